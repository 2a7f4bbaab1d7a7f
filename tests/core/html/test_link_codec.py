"""The links of a page are packed without loss, and found by the short keys of where they lead."""

import zlib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html import link_codec
from crawler.core.html.link_codec import KEY_BYTES, Link, Occurrences
from crawler.core.urls.normalise import normalise

PAGE = "https://example.com/a/b?c"
NEAR = st.text(max_size=20).map(lambda path: normalise(f"https://example.com/{path}"))
FAR = st.sampled_from(
    ["http://example.com/", "https://example.com:8443/", "https://example.com//x", "https://other.example/y"]
)
LINKS = st.lists(st.one_of(NEAR, FAR).filter(bool), unique=True, max_size=30)


@given(LINKS, st.data())
def test_what_is_packed_comes_back(targets: list[str], data: st.DataObject) -> None:
    """Every link, in its order, with words and rel of its own, however many lead to one target."""
    again = st.lists(st.integers(0, max(0, len(targets) - 1)), max_size=30 if targets else 0)
    places = in_turn([*range(len(targets)), *data.draw(again)], data)
    texts = data.draw(st.lists(st.text(max_size=20), min_size=len(places), max_size=len(places)))
    rels = dict.fromkeys(range(0, len(places), 3), "nofollow")
    packed = link_codec.packed(targets, Occurrences(places, texts, rels), PAGE)
    expected = [
        Link(targets[place], text, rels.get(at, "")) for at, (place, text) in enumerate(zip(places, texts, strict=True))
    ]
    assert link_codec.unpacked(packed, PAGE) == expected
    assert [place for place, _ in link_codec.placed(packed, PAGE)] == places


def in_turn(places: list[int], data: st.DataObject) -> list[int]:
    """The same in another order, in which the first link to a target comes before those to targets behind it."""
    mixed = data.draw(st.permutations(places))
    names = {place: turn for turn, place in enumerate(dict.fromkeys(mixed))}
    return [names[place] for place in mixed]


def test_what_was_packed_before_every_link_was_kept_is_read() -> None:
    links = [("/x", "X", ""), ("http://other.example/", "", "nofollow"), ("/", "Home", "")]
    before = zlib.compress(msgspec.msgpack.encode(links), 1)
    assert link_codec.unpacked(before, PAGE) == [
        Link("https://example.com/x", "X", ""),
        Link("http://other.example/", "", "nofollow"),
        Link("https://example.com/", "Home", ""),
    ]
    assert [place for place, _ in link_codec.placed(before, PAGE)] == [0, 1, 2]


def test_links_to_a_target_that_was_linked_to_before_take_little_room() -> None:
    targets = [f"https://example.com/page-{number}" for number in range(20)]
    once = link_codec.packed(targets, Occurrences.once(targets, [""] * 20, {}), PAGE)
    often = link_codec.packed(targets, Occurrences([*range(20)] * 50, ["again"] * 1000, {}), PAGE)
    assert len(often) < len(once) + 100


@given(LINKS)
def test_each_link_is_found_at_its_place(links: list[str]) -> None:
    keys = link_codec.keys(links)
    assert [list(link_codec.places(keys, link_codec.short_key(url))) for url in links] == [
        [at] for at in range(len(links))
    ]


def test_the_keys_of_short_and_of_long_urls_are_those_that_are_looked_for() -> None:
    urls = ["https://example.com/a", f"https://example.com/{'b' * 3000}", "https://example.com/a"]
    assert link_codec.keys(urls) == b"".join(map(link_codec.short_key, urls))


def test_a_key_that_only_seems_to_be_there_is_not_found() -> None:
    keys = bytes(range(2 * KEY_BYTES))
    assert list(link_codec.places(keys, keys[3 : 3 + KEY_BYTES])) == []


def test_a_key_is_found_behind_what_only_seems_to_be_it() -> None:
    keys = b"\0" * 3 + b"\1" * 5 + b"\0" * 3 + b"\1" * 5
    assert list(link_codec.places(b"\1" * 5 + b"\0" * 3 + keys, keys[:KEY_BYTES])) == [1, 2]


def test_a_page_without_links_takes_no_room() -> None:
    packed = link_codec.packed((), link_codec.NO_OCCURRENCES, PAGE)
    assert (link_codec.keys(()), packed, link_codec.unpacked(packed, PAGE)) == (b"", b"", [])


def test_a_page_of_fifty_links_of_one_site_takes_little_room() -> None:
    links = [f"https://example.com/section-{number % 7}/page-{number}.html" for number in range(50)]
    texts = [f"The page number {number}" for number in range(50)]
    packed = link_codec.packed(links, Occurrences.once(links, texts, {}), PAGE)
    assert len(packed) < 16 * len(links)
