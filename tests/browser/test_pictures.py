"""The pictures of the documentation are there, small, and of places that are walked to."""

from tests.stack import ROOT
from tools.pictures import walk
from tools.pictures.chosen import CHOSEN

IMAGES = ROOT / "docs" / "images"
LARGEST = 150_000  # bytes
PLACES = [*walk.BEFORE, *walk.EMPTY, *walk.RUNNING, *walk.FULL]


def test_a_picture_shows_a_place_that_is_walked_to() -> None:
    assert {chosen.place for chosen in CHOSEN.values()} <= {place.name for place in PLACES}
    assert len({place.name for place in PLACES}) == len(PLACES)


def test_each_picture_is_there_and_small() -> None:
    sizes = {name: (IMAGES / f"{name}.png").stat().st_size for name in CHOSEN}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
