"""What is remembered of an answer, who may share it, and what a page takes from it."""

from itertools import combinations
from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.cache_policy import (
    CachedResponse,
    cache_key,
    cache_partition,
    cached_part,
    conditions,
    confirmed,
    is_cacheable,
    is_unchanged,
    reused,
    uses_cache,
    validators_of,
)
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult, PageTask

URL = "http://site.test/"
FETCHED_AT = 1_800_000_000.0  # 15 January 2027, 08:00 UTC
LONG_AGO = "Fri, 15 Jan 2027 07:00:00 GMT"
JUST_NOW = "Fri, 15 Jan 2027 07:59:59 GMT"


def result(outcome: Outcome = Outcome.SUCCESS, http_status: int | None = 200, **facts: Any) -> PageResult:
    values = {"id": 7, "attempt": 2, "requests": 2, "bytes": 500, "elapsed_ms": 40, "fetched_at": FETCHED_AT} | facts
    return PageResult(outcome=outcome, http_status=http_status, **values)


PAGE = result(title="Home", links=(f"{URL}a", f"{URL}b"), rels={f"{URL}b": "nofollow"}, content_type="text/html")


@pytest.mark.parametrize(
    ("answer", "worth"),
    [
        (result(), True),
        (result(http_status=204), True),
        (result(Outcome.REDIRECT, 301, redirect_to=f"{URL}there"), True),
        (result(Outcome.REDIRECT, 304), False),  # nobody asked for it, and it leads nowhere
        (result(Outcome.CLIENT_ERROR, 404), True),
        (result(Outcome.CLIENT_ERROR, 410), True),
        (result(Outcome.CLIENT_ERROR, 403), False),  # somebody else may be let in
        (result(Outcome.CLIENT_ERROR, 429), False),
        (result(Outcome.SERVER_ERROR, 503), False),
        (result(Outcome.TIMEOUT, None), False),
        (result(Outcome.TOO_LARGE, 200), False),
        (result(Outcome.ROBOTS, None), False),
        (result(Outcome.UNCHANGED, 304), False),  # it is remembered already
        (result(reused=True), False),  # or its age would begin anew
    ],
)
def test_final_answers_are_remembered_and_trouble_is_not(answer: PageResult, worth: bool) -> None:
    assert is_cacheable(answer) is worth


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (result(etag='"a"', last_modified=LONG_AGO), ('"a"', LONG_AGO)),
        (result(etag='W/"a"'), ('W/"a"', "")),
        (result(etag='"a"', last_modified=JUST_NOW), ('"a"', JUST_NOW)),  # the ETag decides (RFC 9110, 13.1.3)
        (result(last_modified=LONG_AGO), ("", LONG_AGO)),
        (result(last_modified=JUST_NOW), ("", "")),  # it may have changed again within that second
        (result(last_modified="yesterday"), ("", "")),
        (result(), ("", "")),
        (result(Outcome.REDIRECT, 301, etag='"a"', redirect_to=URL), ("", "")),
        (result(Outcome.CLIENT_ERROR, 404, etag='"a"'), ("", "")),
    ],
)
def test_what_is_sent_next_time_can_tell_a_change(answer: PageResult, expected: tuple[str, str]) -> None:
    assert validators_of(answer) == expected


def test_the_conditions_go_out_as_they_came() -> None:
    task = PageTask(1, URL, 1, etag='W/"x"', last_modified=LONG_AGO)
    assert conditions(task) == {"If-None-Match": 'W/"x"', "If-Modified-Since": LONG_AGO}
    assert conditions(PageTask(1, URL, 1, etag='"x"')) == {"If-None-Match": '"x"'}
    assert conditions(PageTask(1, URL, 1)) == {}


def test_a_304_counts_as_unchanged_only_if_the_server_was_asked() -> None:
    assert is_unchanged(PageTask(1, URL, 1, etag='"x"'), 304)
    assert is_unchanged(PageTask(1, URL, 1, last_modified=LONG_AGO), 304)
    assert not is_unchanged(PageTask(1, URL, 1, etag='"x"'), 200)
    assert not is_unchanged(PageTask(1, URL, 1), 304)


def test_an_unchanged_page_has_all_that_is_remembered_of_it() -> None:
    said = result(Outcome.UNCHANGED, 304, id=9, bytes=0, etag='"a"', sitemaps=(f"{URL}s.xml",))
    page = confirmed(said, CachedResponse(cached_part(PAGE), 1.0, '"a"', ""))
    assert page is not None
    assert (page.id, page.outcome, page.http_status, page.bytes, page.requests) == (9, Outcome.UNCHANGED, 304, 0, 2)
    assert (page.title, page.links, page.rels, page.content_type) == (PAGE.title, PAGE.links, PAGE.rels, "text/html")
    assert page.sitemaps == said.sitemaps


def test_an_answer_that_was_replaced_meanwhile_is_not_taken_for_the_one_that_was_confirmed() -> None:
    said = result(Outcome.UNCHANGED, 304, etag='"a"')
    assert confirmed(said, CachedResponse(cached_part(PAGE), 1.0, '"b"', "")) is None
    assert confirmed(said, CachedResponse(cached_part(PAGE), 1.0, '"a"', LONG_AGO)) is None


def test_a_page_that_is_not_asked_for_costs_nothing_and_says_how_old_its_answer_is() -> None:
    page = reused(9, 0, CachedResponse(cached_part(PAGE), 5.0, '"a"', ""))
    assert (page.id, page.attempt, page.requests, page.bytes, page.elapsed_ms) == (9, 0, 0, 0, 0)
    assert (page.outcome, page.http_status, page.links, page.fetched_at) == (Outcome.SUCCESS, 200, PAGE.links, 5.0)
    assert page.reused


def test_what_an_answer_was_had_for_is_not_part_of_it() -> None:
    assert cached_part(result(id=1, attempt=1, sitemaps=(URL,), retry_after=3.0)) == cached_part(
        result(id=2, requests=9)
    )


@pytest.mark.parametrize(("options", "uses"), [({}, False), ({"revisit": True}, True), ({"response_ttl": 60.0}, True)])
def test_the_memory_is_off_unless_somebody_turns_it_on(options: dict[str, Any], uses: bool) -> None:
    assert uses_cache(CrawlOptions(**options)) is uses


PARTITIONS = [
    cache_partition(CrawlOptions()),
    cache_partition(CrawlOptions(), b"Authorization: Bearer ann"),
    cache_partition(CrawlOptions(), b"Authorization: Bearer bob"),
    cache_partition(CrawlOptions(private_hosts=("*",))),
    cache_partition(CrawlOptions(private_hosts=("10.0.0.0/8",))),
    cache_partition(CrawlOptions(obey_robots=False)),
    cache_partition(CrawlOptions(obey_nofollow=True)),
    cache_partition(CrawlOptions(near_duplicates=True)),
    cache_partition(CrawlOptions(user_agent="Bot/1")),
    cache_partition(CrawlOptions(user_agent="Bot/2")),
    cache_partition(CrawlOptions(ignore_tls_errors=True)),
    cache_partition(CrawlOptions(user_agent="Bot/1", ignore_tls_errors=True)),
    cache_partition(CrawlOptions(obey_robots=False, obey_nofollow=True)),
]


def test_crawls_that_would_be_told_something_else_share_nothing() -> None:
    assert all(cache_key(URL, one) != cache_key(URL, other) for one, other in combinations(PARTITIONS, 2))


def test_crawls_that_differ_in_what_they_take_share_their_answers() -> None:
    other = CrawlOptions(max_pages=3, include=("x",), delay=2.0, subdomains=True, response_ttl=60.0, revisit=True)
    assert cache_partition(other) == cache_partition(CrawlOptions()) == b""
    assert cache_partition(CrawlOptions(private_hosts=("a", "b"))) == cache_partition(
        CrawlOptions(private_hosts=("b", "a"))
    )


def test_a_key_is_sixteen_bytes_whatever_the_url() -> None:
    assert {len(cache_key(f"{URL}{'x' * length}", partition)) for length in (0, 4000) for partition in PARTITIONS} == {
        16
    }
