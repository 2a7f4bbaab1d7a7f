"""The links of a page are packed without loss, and found by the short keys of where they lead."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.core import linkage
from crawler.core.linkage import KEY_BYTES, Link
from crawler.core.urls import normalise

PAGE = "https://example.com/a/b?c"
NEAR = st.text(max_size=20).map(lambda path: normalise(f"https://example.com/{path}"))
FAR = st.sampled_from(
    ["http://example.com/", "https://example.com:8443/", "https://example.com//x", "https://other.example/y"]
)
LINKS = st.lists(st.one_of(NEAR, FAR).filter(bool), unique=True, max_size=30)


@given(LINKS, st.data())
def test_what_is_packed_comes_back(links: list[str], data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.text(max_size=20), min_size=len(links), max_size=len(links)))
    rels = dict.fromkeys(links[::3], "nofollow")
    packed = linkage.packed(links, texts, rels, PAGE)
    expected = [Link(url, text, rels.get(url, "")) for url, text in zip(links, texts, strict=True)]
    assert linkage.unpacked(packed, PAGE) == expected


@given(LINKS)
def test_each_link_is_found_at_its_place(links: list[str]) -> None:
    keys = linkage.keys(links)
    assert [list(linkage.places(keys, linkage.short_key(url))) for url in links] == [[at] for at in range(len(links))]


def test_a_key_that_only_seems_to_be_there_is_not_found() -> None:
    keys = bytes(range(2 * KEY_BYTES))
    assert list(linkage.places(keys, keys[3 : 3 + KEY_BYTES])) == []


def test_a_key_is_found_behind_what_only_seems_to_be_it() -> None:
    keys = b"\0" * 3 + b"\1" * 5 + b"\0" * 3 + b"\1" * 5
    assert list(linkage.places(b"\1" * 5 + b"\0" * 3 + keys, keys[:KEY_BYTES])) == [1, 2]


def test_a_page_without_links_takes_no_room() -> None:
    assert (linkage.keys(()), linkage.packed((), (), {}, PAGE), linkage.unpacked(b"", PAGE)) == (b"", b"", [])


def test_a_page_of_fifty_links_of_one_site_takes_little_room() -> None:
    links = [f"https://example.com/section-{number % 7}/page-{number}.html" for number in range(50)]
    packed = linkage.packed(links, [f"The page number {number}" for number in range(50)], {}, PAGE)
    assert len(packed) < 16 * len(links)
