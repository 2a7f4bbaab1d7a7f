"""The branches a URL belongs to, and what is counted of them."""

import pytest

from crawler.capabilities.traps.branches import (
    Branch,
    Branches,
    Memory,
    ReadPage,
    Span,
    branches_of,
    learn,
    likely_part,
    value_and_rest,
    wants_text,
)
from crawler.capabilities.traps.novelty import Said

SITE = "https://example.com"

BRANCHES = [
    ("/", ["*", "…"]),
    ("/a/b/c.html", ["a/b/*", "a/b/…", "a/…", "…"]),
    ("/thread/17/page/3", ["thread/*/page/*", "thread/*/page/…", "thread/*/…", "thread/…", "…"]),
    ("/list?page=3&zx=8f", ["list", "…?page=*", "…?zx=*", "…"]),
    ("/list?page=3&empty=", ["list", "…?page=*", "…"]),
    ("/a;sid=8f/b", ["*/b", "…;sid=*", "*/…", "…"]),
    ("/a/b/c/d/e/f", ["a/b/c/d/e/*", "a/b/c/…", "a/b/…", "a/…", "…"]),
]


@pytest.mark.parametrize(("path", "patterns"), BRANCHES)
def test_a_page_belongs_to_few_branches(path: str, patterns: list[str]) -> None:
    found = [pattern.removeprefix("example.com/") for pattern in branches_of(SITE + path)]
    assert found == patterns


@pytest.mark.parametrize("path", [path for path, _ in BRANCHES])
def test_each_url_contains_the_likely_part_of_its_branches(path: str) -> None:
    assert all(likely_part(pattern) in SITE + path for pattern in branches_of(SITE + path))


@pytest.mark.parametrize(
    ("pattern", "one", "other"),
    [
        ("example.com/…?zx=*", "/list?page=3&zx=1", "/list?page=3&zx=2"),
        ("example.com/…;zx=*", "/list;zx=1/3", "/list;zx=2/3"),
        ("example.com/s/…", "/s/1/list/3", "/s/2/list/3"),
        ("example.com/…", "/1/list/3", "/2/list/3"),
        ("example.com/s/*/…", "/s/1/a?x=1", "/s/1/b?x=1"),
    ],
)
def test_urls_that_differ_in_one_value_have_the_same_rest(pattern: str, one: str, other: str) -> None:
    first, second = value_and_rest(SITE + one, pattern), value_and_rest(SITE + other, pattern)
    assert first is not None
    assert second is not None
    assert first[0] != second[0]
    assert first[1] == second[1]


def test_a_path_has_no_one_value() -> None:
    assert value_and_rest(f"{SITE}/a/1/b/2", "example.com/a/*/b/*") is None


def branch(*spans: Span) -> Branch:
    return Branch(list(spans))


def test_a_branch_grows_when_its_pages_lead_to_as_many_new_ones() -> None:
    assert branch(Span(100, 95), Span(100, 90)).is_growing()
    assert not branch(Span(100, 95), Span(100, 60)).is_growing()
    assert not branch(Span(100, 300), Span(90, 300)).is_growing(), "it is small"
    assert not branch(Span(100, 900), Span(100, 40)).is_growing(), "it grew once"


def test_a_branch_is_silent_when_hardly_one_of_its_latest_pages_says_something_new() -> None:
    lively, silent = Span(100, 100, 100, 60), Span(100, 100, 100, 2)
    assert branch(lively, silent, silent, silent).is_silent(300)
    assert not branch(lively, silent, silent).is_silent(300)
    assert not branch(silent, silent).is_silent(300), "too few were read"


def test_reading_rests_while_all_that_grows_says_much() -> None:
    lively = Branches({"example.com/…": branch(Span(100, 100, 100, 50), Span(100, 100))}, pages=199)
    assert not wants_text(lively)
    lively.pages = lively.known["example.com/…"].turn = lively.rests_until - 1
    assert not wants_text(lively)
    lively.pages = lively.rests_until
    assert wants_text(lively), "it is looked at again"


def test_nothing_is_read_while_no_branch_grows() -> None:
    assert not wants_text(Branches({"example.com/…": branch(Span(100, 20))}, pages=100))


def test_no_more_branches_are_known_than_may_be() -> None:
    known, memory = Branches(), Memory()
    learn(known, [ReadPage(f"{SITE}/{number}x/a", Said((number * 2,))) for number in range(1_000)], memory, set())
    learn(known, [ReadPage(f"{SITE}/{chr(97 + number % 26)}{number}/a", None) for number in range(300)], memory, set())
    assert len(known.known) <= 200


def test_pages_of_a_trap_do_not_count() -> None:
    known, memory = Branches(), Memory()
    learn(known, [ReadPage(f"{SITE}/list?zx=1", Said((2,)))], memory, {"example.com/…?zx=*"})
    assert known.pages == 0
    assert memory.taken == {2}, "what they say is known nevertheless"
