"""Content that a fetch job buffers is found at its place, or a text says why it is not stored."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from crawler.core.errors import ServiceDown
from crawler.core.text.gzip import Broken
from crawler.storage.content.objects import ObjectMissing, Reader, delete_of, objects_of, packed, unpacked
from crawler.storage.content.shelf import Shelf, named
from tests.content_storages import AWAY, FULL, kept_in


def kept(shelf: Shelf, *contents: dict[str, bytes | str]) -> list[dict[str, Any]]:
    places = [shelf.put(content) for content in contents]
    names = shelf.clear()
    return [named(place, names) for place in places]


def test_each_member_is_found_and_all_together_are_a_good_file(folder: Path) -> None:
    first, second = kept(Shelf("crawl", "batch"), {"html": packed(b"one")}, {"html": packed(b"two")})
    assert first["html"][0] == second["html"][0] == "crawl/batch-1.html.gz"
    with Reader() as reader:
        assert [unpacked(reader.read(tuple(place["html"])), 99) for place in (first, second)] == [b"one", b"two"]
    assert gzip.decompress((folder / "crawl/batch-1.html.gz").read_bytes()) == b"onetwo"


def test_each_time_it_is_cleared_objects_begin_anew() -> None:
    shelf = Shelf("crawl", "batch")
    kept(shelf, {"html": packed(b"one")})
    assert kept(shelf, {"html": packed(b"two")})[0]["html"] == ["crawl/batch-2.html.gz", 0, len(packed(b"two"))]
    assert kept(shelf) == []
    assert sorted(objects_of("crawl")) == ["crawl/batch-1.html.gz", "crawl/batch-2.html.gz"]


def test_it_is_full_when_an_object_is_as_large_as_it_may_be(settings: Any) -> None:
    settings.CRAWLER_CONTENT_OBJECT_MB = 0.001
    shelf = Shelf("crawl", "batch")
    shelf.put({"html": b"x" * 1000})
    assert not shelf.is_full
    shelf.put({"html": b"x" * 1000})
    assert shelf.is_full
    shelf.clear()
    assert not shelf.is_full


def test_a_sentence_in_place_of_a_member_stays() -> None:
    assert kept(Shelf("crawl", "batch"), {"warc": "not kept: why"}) == [{"warc": "not kept: why"}]


def test_a_storage_in_trouble_costs_the_content_and_leaves_nothing(
    folder: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    kept_in(folder, settings, AWAY)
    assert kept(Shelf("crawl", "batch"), {"html": packed(b"one")}) == [
        {"html": "not kept: the storage could not be written to"}
    ]
    assert "could not be saved" in caplog.text


def test_a_storage_that_is_full_leaves_nothing_and_is_known_to_be(folder: Path, settings: Any) -> None:
    kept_in(folder, settings, FULL)
    shelf = Shelf("crawl", "batch")
    place = shelf.put({"html": packed(b"one")})
    assert named(place, shelf.clear(), has_room=shelf.has_room) == {"html": "not kept: there is no room left"}
    assert not shelf.has_room
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_temporary_file_that_cannot_grow_costs_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf("crawl", "batch")
    first = shelf.put({"html": packed(b"one")})
    with monkeypatch.context() as patch:
        patch.setattr(shelf._objects["html"]._stream, "flush", _no_space)
        assert shelf.put({"html": packed(b"two")}) == {"html": "not kept: there is no room left"}
    third = shelf.put({"html": packed(b"three")})
    names = shelf.clear()
    with Reader() as reader:
        found = [unpacked(reader.read(tuple(named(place, names)["html"])), 99) for place in (first, third)]
    assert found == [b"one", b"three"]


def test_what_is_gone_or_cut_is_told(folder: Path) -> None:
    place = kept(Shelf("crawl", "batch"), {"html": packed(b"one")})[0]["html"]
    (folder / place[0]).write_bytes(b"short")
    with Reader() as reader, pytest.raises(ObjectMissing, match="shorter than it was"):
        reader.read(tuple(place))
    (folder / place[0]).unlink()
    with Reader() as reader, pytest.raises(ObjectMissing, match="no longer in the storage"):
        reader.read(tuple(place))
    with pytest.raises(Broken):
        unpacked(b"no gzip", 99)


def test_all_objects_of_a_crawl_are_deleted_and_no_others(folder: Path) -> None:
    for crawl in ("one", "two"):
        kept(Shelf(crawl, "batch"), {"html": packed(b"x")})
    delete_of("one")
    delete_of("one")
    assert [path.name for path in folder.iterdir()] == ["two"]


def test_a_storage_that_is_away_is_a_service_that_is_down(folder: Path, settings: Any) -> None:
    kept_in(folder, settings, AWAY)
    with pytest.raises(ServiceDown, match="the storage is away"):
        delete_of("one")


def _no_space() -> None:
    raise OSError(28, "No space left on device")
