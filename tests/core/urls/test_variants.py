"""Which part of a URL makes no difference is told by what pages say, whatever the part is called."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages.traps import TrapReason
from crawler.core.urls import variants
from crawler.core.urls.normalise import normalise
from crawler.core.urls.variants import (
    HONEST_PAGES,
    MAX_PARAMETERS,
    MAX_TEXTS,
    MIN_REPEATS,
    VARIANTS_KEPT,
    Evidence,
    Variants,
    checked,
    differing_part,
    found_by,
    is_check_due,
    leads_on,
    reason_of,
    remainders,
)

SITE = "https://example.com"

REMAINDERS = [
    ("/", {}),
    ("/list?page=0&x=ab", {"…?page=*": "/list?x=ab", "…?x=*": "/list?page=0", "*": "/*?page=0&x=ab"}),
    ("/list?x=ab", {"…?x=*": "/list", "*": "/*?x=ab"}),
    ("/list?x", {"*": "/*?x"}),
    ("/list?x=1&x=2&y=3", {"…?x=*": "/list?y=3", "…?y=*": "/list?x=1&x=2", "*": "/*?x=1&x=2&y=3"}),
    ("/s/ab/list/", {"*": "/*/ab/list/", "s/*": "/s/*/list/", "s/ab/*": "/s/ab/*/"}),
    ("/a;x=ab/b", {"*": "/*/b", "…;x=*": "/a/b", "a;x=ab/*": "/a;x=ab/*"}),
]


@pytest.mark.parametrize(("address", "expected"), REMAINDERS)
def test_a_url_has_parameters_and_segments_and_what_is_left_without_each(
    address: str, expected: dict[str, str]
) -> None:
    whole = {f"example.com/{pattern}": SITE + rest for pattern, rest in expected.items()}
    assert remainders(SITE + address) == whole


DIFFERING = [
    ("/list?page=0&x=2", "/list?page=0&x=1", "…?x=*"),
    ("/list?page=0&x=2", "/list?page=0", "…?x=*"),
    ("/list?page=0&x=2", "/list?page=1&x=1", None),
    ("/list?page=0&x=2", "/other?page=0&x=1", None),
    ("/item?id=2", "/item?id=1", "…?id=*"),
    ("/s/b/list/3", "/s/a/list/3", "s/*"),
    ("/s/b/list/3", "/s/a/list/4", None),
    ("/s/b/list/3", "/s/list/3", None),
    ("/b", "/a", "*"),
    ("/a;x=2/b", "/a;x=1/b", "…;x=*"),
]


@pytest.mark.parametrize(("url", "other", "pattern"), DIFFERING)
def test_two_urls_may_differ_in_one_part_alone(url: str, other: str, pattern: str | None) -> None:
    found = differing_part(SITE + url, SITE + other)
    assert found == (f"example.com/{pattern}" if pattern else None)


def test_a_part_says_what_it_is_and_what_its_urls_have() -> None:
    for address in ("/a/b/list?page=0&x=ab", "/a;x=ab/b"):
        for pattern in remainders(SITE + address):
            assert found_by(pattern) in SITE + address
            assert reason_of(pattern) is (TrapReason.PARAMETER if "…" in pattern else TrapReason.SEGMENT)


def test_urls_with_very_many_parts_cost_nothing() -> None:
    many = "&".join(f"p{number}=1" for number in range(MAX_PARAMETERS + 1))
    assert not any("…" in pattern for pattern in remainders(f"{SITE}/a?{many}"))
    assert remainders(SITE + "/a" * 500) == {}


@given(st.text(alphabet="ab/?&=;*.%", max_size=40))
def test_every_normalised_url_is_read(path: str) -> None:
    url = normalise(f"{SITE}/{path}")
    if url is not None:
        for pattern, rest in remainders(url).items():
            assert found_by(pattern) in url
            assert pattern.startswith("example.com/")
            assert rest.startswith(SITE)


def test_repetitions_and_differences_are_counted_among_variants() -> None:
    known = Variants()
    for text in (b"a", b"a", b"b", b"a", b"b"):
        known = known.with_text(text, counts=True)
    assert (known.same, known.different, known.texts) == (3, 1, (b"a", b"b"))
    assert known.with_text(b"a", counts=False).same == 3


def test_few_texts_are_kept_and_what_is_not_known_differs() -> None:
    known = Variants()
    for number in range(MAX_TEXTS + 10):
        known = known.with_text(number.to_bytes(8, "big"), counts=True)
    assert len(known.texts) == MAX_TEXTS
    assert known.different == MAX_TEXTS + 9


@pytest.mark.parametrize(
    ("same", "different", "is_trap"),
    [
        (MIN_REPEATS - 1, 0, False),
        (MIN_REPEATS, 0, True),
        (MIN_REPEATS, MIN_REPEATS // 19, True),
        (MIN_REPEATS, MIN_REPEATS // 19 + 1, False),
    ],
)
def test_a_part_is_a_trap_if_hardly_any_page_differs(same: int, different: int, is_trap: bool) -> None:
    assert Evidence(same + different, same, different).is_trap is is_trap


def test_a_part_that_makes_a_difference_is_soon_let_be() -> None:
    assert Evidence(HONEST_PAGES * 2, HONEST_PAGES, HONEST_PAGES).is_honest
    assert not Evidence(HONEST_PAGES, 0, HONEST_PAGES - 1).is_honest
    assert not Evidence(HONEST_PAGES * 3, HONEST_PAGES + 1, HONEST_PAGES).is_honest
    assert Evidence(variants.FOLLOWED_PAGES, 1, 0).is_honest


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), unique=True, max_size=200))
def test_pages_with_texts_of_their_own_are_no_evidence(pages: list[tuple[int, int]]) -> None:
    """Whatever they lead to."""
    groups: dict[tuple[str, str], Variants] = defaultdict(Variants)
    for number, value in pages:
        url = f"{SITE}/list?page={number}&x={value}"
        for part in remainders(url).items():
            groups[part] = groups[part].with_text(url.encode(), counts=True)
    assert not any(known.same for known in groups.values())


def test_a_trap_leads_to_more_of_its_own() -> None:
    x, y = remainders(f"{SITE}/a?x=1"), remainders(f"{SITE}/a?y=1")
    pattern = "example.com/…?x=*"
    assert leads_on(pattern, [x])
    assert leads_on(pattern, [x, y])
    assert not leads_on(pattern, [x, y, y])
    assert not leads_on(pattern, [])


def test_of_a_trap_the_first_of_all_variants_are_asked_for_and_those_that_differ() -> None:
    for pages in range(VARIANTS_KEPT):
        assert Variants(pages=pages).want_more
    assert not Variants(pages=VARIANTS_KEPT).want_more
    assert Variants(pages=VARIANTS_KEPT, different=2, same=6).want_more
    assert not Variants(pages=VARIANTS_KEPT, different=2, same=7).want_more
    assert not Variants(pages=VARIANTS_KEPT, different=1).want_more


def test_a_judgement_is_checked_ever_more_rarely() -> None:
    kept_out = checks = 0
    for _ in range(43_000):
        if is_check_due(kept_out, checks):
            checks += 1
        else:
            kept_out += 1
    assert checks == 16


@pytest.mark.parametrize(("places", "expected"), [(0, []), (1, [0]), (3, [0, 1]), (80, [10, 21, 32, 43, 54, 65, 76])])
def test_of_open_pages_a_few_that_lie_far_apart_are_checked(places: int, expected: list[int]) -> None:
    assert list(checked(places)) == expected
