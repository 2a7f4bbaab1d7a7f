import pickle
from typing import ClassVar

import msgspec
import pytest

from crawler.core.composed import ComposedStruct, Part


class Size(Part):
    width: int = 1
    height: int = 1

    @property
    def area(self) -> int:
        return self.width * self.height


class Ink(Part):
    follows = "name"

    colour: str = "black"
    shades: dict[str, float] = {}


class Paint(Part):
    follows = "name"

    layers: int = 0


class Frame(Part):
    wood: tuple[str, ...] = ()


class Picture(Size, msgspec.Struct, metaclass=ComposedStruct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture."""

    parts: ClassVar = (Ink, Frame, Paint)

    name: str
    year: int | None = None


class Whole(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    width: int = 1
    height: int = 1
    name: str
    colour: str = "black"
    shades: dict[str, float] = {}
    layers: int = 0
    year: int | None = None
    wood: tuple[str, ...] = ()


VALUES = {"name": "Tree", "height": 3, "colour": "green", "shades": {"leaf": 0.5}, "wood": ("oak",)}


def test_its_fields_are_flat_and_in_the_order_the_parts_say() -> None:
    assert Picture.__struct_fields__ == Whole.__struct_fields__
    assert (Picture.__name__, Picture.__module__, Picture.__doc__) == ("Picture", __name__, "A picture.")


def test_it_is_encoded_as_a_struct_that_is_written_in_one_piece() -> None:
    picture = Picture(**VALUES)
    assert msgspec.msgpack.encode(picture) == msgspec.msgpack.encode(Whole(**VALUES))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(picture), type=Picture) == picture
    assert msgspec.convert(msgspec.to_builtins(picture), Picture) == picture
    assert pickle.loads(pickle.dumps(picture)) == picture  # noqa: S301 (our own)


def test_the_types_of_a_part_are_checked() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.wood"):
        msgspec.convert({"name": "Tree", "wood": [1]}, Picture)


def test_a_part_is_the_struct_itself() -> None:
    picture = msgspec.structs.replace(Picture(name="Tree"), colour="red", width=7)
    assert Ink.of(picture) is picture
    assert (Ink.of(picture).colour, Frame.of(picture).wood, picture.area) == ("red", (), 7)


def test_it_is_as_small_as_a_struct_that_is_written_in_one_piece() -> None:
    assert Picture.__basicsize__ == Whole.__basicsize__
    assert Picture.__bases__ == (msgspec.Struct,)


def test_two_mutable_defaults_are_two() -> None:
    assert Ink.of(Picture(name="one")).shades is not Ink.of(Picture(name="two")).shades


def test_a_field_of_two_parts_is_an_error() -> None:
    with pytest.raises(TypeError, match="two parts have the field colour"):

        class Two(msgspec.Struct, metaclass=ComposedStruct):
            parts: ClassVar = (Ink,)

            name: str
            colour: str = ""
