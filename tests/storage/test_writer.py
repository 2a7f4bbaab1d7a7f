"""Rows change conditionally, and counters move by the rows that really changed."""

import time
from typing import Any

import pytest
from django.utils import timezone

from crawler import models
from crawler.capabilities.browser.page_load import FAILED, PageLoad, Resource
from crawler.core.html.page_metadata import PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.placement import Placement
from crawler.core.protocol.completion import Limit, State
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PAGE, SITEMAP, PageResult
from crawler.core.url_lists.entries import Entry
from crawler.models import Crawl, Page, PageFacts
from crawler.storage import additions, bulk, deaths, queries, sql, writer
from crawler.storage.writer import Retry

pytestmark = pytest.mark.django_db

START = "http://example.com/"
NOW = 1_000_000.0


@pytest.fixture
def crawl() -> Crawl:
    """A running crawl whose start page, and a second page, are open."""
    crawl = Crawl.objects.create(start_urls=[START])
    writer.open_start_pages(crawl, [START, f"{START}b"], NOW)
    return crawl


def page_id(crawl: Crawl, url: str = START) -> int:
    return Page.objects.get(crawl=crawl, url=url).id


def success(page: int, **facts: Any) -> PageResult:
    facts = {"attempt": 1, "http_status": 200, "bytes": 10, "requests": 1, "fetched_at": NOW} | facts
    return PageResult(id=page, outcome=Outcome.SUCCESS, **facts)


def found(*names: str, **facts: Any) -> list[Discovery]:
    return [Discovery(f"{START}{name}", 1, 0, None, **facts) for name in names]


def assert_counters_match_rows(crawl: Crawl) -> None:
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)


def test_rules_give_the_priorities_of_pages_without_one() -> None:
    crawl = Crawl.objects.create(start_urls=[START], options=CrawlOptions(priorities=("/news/=9", "a$=2")).to_plain())
    writer.open_start_pages(crawl, [f"{START}news/", f"{START}b"], NOW)
    writer.apply(crawl.id, [], [], [*found("a", "news/a"), *found("news/own", priority=1)], NOW)
    writer.open_listed_pages(crawl.id, [Entry(1, f"{START}listed/a"), Entry(2, f"{START}news/listed", 0)], NOW)
    priorities = {page.url.removeprefix(START): page.priority for page in Page.objects.all()}
    assert priorities == {"news/": 9, "b": 5, "a": 2, "news/a": 9, "news/own": 1, "listed/a": 2, "news/listed": 0}
    crawl.refresh_from_db()
    assert crawl.priorities == [9, 5, 2, 1, 0]


def test_start_pages_are_open_and_counted(crawl: Crawl) -> None:
    crawl.refresh_from_db()
    assert (crawl.discovered, crawl.tallies.open) == (2, 2)
    assert queries.has_open(crawl.id)


def test_closing_and_discovering_happen_together(crawl: Crawl) -> None:
    tallies = writer.apply(crawl.id, [success(page_id(crawl))], [], found("c", "d"), NOW).tallies
    assert (tallies.discovered, tallies.closed) == (4, 1)
    assert_counters_match_rows(crawl)
    assert (crawl.requests, crawl.bytes) == (1, 10)


def test_applying_the_same_result_twice_changes_nothing(crawl: Crawl) -> None:
    result = success(page_id(crawl))
    once = writer.apply(crawl.id, [result], [], found("c"), NOW).tallies
    twice = writer.apply(crawl.id, [result, result], [], found("c"), NOW).tallies
    assert once == twice
    assert_counters_match_rows(crawl)
    assert crawl.requests == 1


def test_a_closed_page_keeps_its_first_outcome(crawl: Crawl) -> None:
    page = page_id(crawl)
    writer.apply(crawl.id, [success(page)], [], [], NOW)
    late = PageResult(id=page, attempt=2, outcome=Outcome.TIMEOUT)
    writer.apply(crawl.id, [late], [Retry(late, NOW)], [], NOW)
    assert Page.objects.get(id=page).outcome == Outcome.SUCCESS
    assert_counters_match_rows(crawl)


def test_a_closed_row_is_not_closed_again(crawl: Crawl) -> None:
    """The statement itself asks for the status, also where a caller has not looked."""
    page = page_id(crawl)
    assert sql.close_rows([success(page)], now=1.0) == 1
    assert sql.close_rows([PageResult(id=page, attempt=2, outcome=Outcome.TIMEOUT)], now=1.0) == 0
    assert Page.objects.get(id=page).outcome == Outcome.SUCCESS


def test_a_url_is_inserted_once_whatever_finds_it(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], [*found("c"), *found("c"), *found("b")], NOW)
    assert Page.objects.filter(crawl=crawl).count() == 3
    assert_counters_match_rows(crawl)


def test_two_crawls_may_hold_the_same_url(crawl: Crawl) -> None:
    other = Crawl.objects.create(start_urls=[START])
    writer.open_start_pages(other, [START], NOW)
    assert Page.objects.filter(url=START).count() == 2


def test_more_pages_than_fit_one_statement(crawl: Crawl) -> None:
    names = [str(number) for number in range(2 * bulk.ROWS_PER_STATEMENT + 7)]
    tallies = writer.apply(crawl.id, [], [], found(*names), NOW).tallies
    assert tallies.discovered == 2 + len(names)
    assert_counters_match_rows(crawl)


def test_a_page_beyond_a_limit_is_inserted_closed(crawl: Crawl) -> None:
    tallies = writer.apply(crawl.id, [], [], found("deep", outcome=Outcome.LIMIT, error="deeper"), NOW).tallies
    assert tallies.skipped() == {"limit": 1}
    assert Page.objects.get(url=f"{START}deep").status == Page.CLOSED
    assert_counters_match_rows(crawl)


def test_a_page_found_both_beyond_and_within_a_limit_is_open(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], [*found("c", outcome=Outcome.TOO_MANY_REDIRECTS), *found("c")], NOW)
    assert Page.objects.get(url=f"{START}c").status == Page.OPEN
    assert_counters_match_rows(crawl)


def test_a_retry_is_noted_once_and_leaves_the_page_open(crawl: Crawl) -> None:
    result = PageResult(id=page_id(crawl), attempt=1, outcome=Outcome.TIMEOUT, requests=1, error="too slow")
    for _ in range(2):
        writer.apply(crawl.id, [], [Retry(result, NOW + 4)], [], NOW)
    page = Page.objects.get(id=result.id)
    assert (page.status, page.attempts, page.due_at) == (Page.OPEN, 1, NOW + 4)
    assert_counters_match_rows(crawl)
    assert (crawl.retries, crawl.requests) == (1, 1)


def test_a_death_with_nothing_in_hand_makes_suspects_and_counts_against_nobody(crawl: Crawl) -> None:
    page = page_id(crawl)
    assert deaths.count_death(crawl.id, [page], "a", NOW, in_hand=None, crashed_from=1) == []
    row = Page.objects.get(id=page)
    assert (row.status, row.attempts, row.deaths, row.died_with) == (Page.OPEN, 0, 0, "a")
    crawl.refresh_from_db()
    assert crawl.retries == 0


def test_a_death_is_counted_as_an_attempt_and_blames_nobody_in_company(crawl: Crawl) -> None:
    page = page_id(crawl)
    for attempt, lease in enumerate("abcde", start=1):
        for _ in range(2):  # a lease is counted once
            assert deaths.count_death(crawl.id, [page], lease, NOW, in_hand=(page, attempt), crashed_from=None) == []
    row = Page.objects.get(id=page)
    assert (row.status, row.attempts, row.deaths) == (Page.OPEN, 5, 5)
    assert_counters_match_rows(crawl)
    assert crawl.retries == 5


def test_a_page_alone_with_its_worker_is_blamed_once_workers_enough_died_over_it(crawl: Crawl) -> None:
    page = page_id(crawl)
    assert deaths.count_death(crawl.id, [page], "a", NOW, in_hand=(page, 1), crashed_from=2) == []
    assert deaths.count_death(crawl.id, [page], "a", NOW, in_hand=(page, 2), crashed_from=2) == []
    assert deaths.count_death(crawl.id, [page], "b", NOW, in_hand=(page, 2), crashed_from=2) == [page]
    row = Page.objects.get(id=page)
    assert (row.outcome, row.given_up) == (Outcome.CRASHED, True)
    assert "died 2 times" in row.error
    assert_counters_match_rows(crawl)


def test_attempts_that_were_answered_are_no_deaths(crawl: Crawl) -> None:
    """Two answers that were worth another try, and one death: workers enough have not died over it."""
    page = page_id(crawl)
    for attempt in (1, 2):
        busy = PageResult(id=page, attempt=attempt, outcome=Outcome.SERVER_ERROR, http_status=503)
        writer.apply(crawl.id, [], [Retry(busy, NOW)], [], NOW)
    assert deaths.count_death(crawl.id, [page], "a", NOW, in_hand=(page, 3), crashed_from=3) == []
    assert Page.objects.get(id=page).attempts == 3


def test_a_crawl_that_is_over_takes_nothing_in(crawl: Crawl) -> None:
    """A result that comes after a cancellation must not open pages nobody will ever close."""
    writer.close_rest(crawl.id, Outcome.CANCELLED, "cancelled", NOW)
    Crawl.objects.filter(id=crawl.id).update(state=State.CANCELLED)
    tallies = writer.apply(crawl.id, [success(page_id(crawl))], [], found("late"), NOW, requests=3).tallies
    assert tallies.open == 0
    assert not Page.objects.filter(url__endswith="late").exists()
    assert_counters_match_rows(crawl)
    assert crawl.requests == 0


@pytest.mark.parametrize(
    ("result", "given_up"),
    [
        ({"outcome": Outcome.TIMEOUT}, True),
        ({"outcome": Outcome.DNS}, True),
        ({"outcome": Outcome.SERVER_ERROR, "http_status": 503}, True),
        ({"outcome": Outcome.CLIENT_ERROR, "http_status": 429}, True),
        ({"outcome": Outcome.ROBOTS, "robots_unreachable": True}, True),
        ({"outcome": Outcome.CLIENT_ERROR, "http_status": 404}, False),
        ({"outcome": Outcome.ROBOTS}, False),
        ({"outcome": Outcome.SUCCESS, "http_status": 200}, False),
    ],
)
def test_what_another_try_might_mend_is_a_dead_letter(crawl: Crawl, result: dict[str, Any], given_up: bool) -> None:
    writer.apply(crawl.id, [PageResult(id=page_id(crawl), attempt=3, **result)], [], [], NOW)
    assert Page.objects.get(id=page_id(crawl)).given_up is given_up


def test_dead_letters_are_opened_as_if_they_had_never_been_asked_for(crawl: Crawl) -> None:
    failed = PageResult(id=page_id(crawl), attempt=3, outcome=Outcome.SERVER_ERROR, http_status=500)
    writer.apply(crawl.id, [failed], [], [], NOW)
    assert additions.reopen(crawl.id, None, NOW) == 1
    page = Page.objects.get(id=failed.id)
    assert (page.status, page.outcome, page.attempts, page.given_up) == (Page.OPEN, "", 0, False)
    assert_counters_match_rows(crawl)
    assert additions.reopen(crawl.id, None, NOW) == 0


def test_only_the_dead_letters_asked_for_are_opened(crawl: Crawl) -> None:
    ids = list(Page.objects.order_by("id").values_list("id", flat=True))
    failed = [PageResult(id=page, attempt=3, outcome=Outcome.TIMEOUT) for page in ids]
    writer.apply(crawl.id, failed, [], [], NOW)
    assert additions.reopen(crawl.id, [ids[1], 10**9], NOW) == 1
    assert list(Page.objects.filter(status=Page.OPEN).values_list("id", flat=True)) == [ids[1]]
    assert_counters_match_rows(crawl)


def test_what_the_answer_and_the_page_said_is_kept_with_the_closing(crawl: Crawl) -> None:
    page = page_id(crawl)
    said = PageMetadata(description="What", h1="It", h1_count=2, canonical=f"{START}b", canonicals=1, digest=b"d" * 16)
    first = success(page, facts=said, headers="Server: x\nETag: y", first_byte_ms=7, kept={"warc": ["o", 0, 9]})
    late = success(page, attempt=2, facts=PageMetadata(description="Other"))
    writer.apply(crawl.id, [first], [], [], NOW)
    writer.apply(crawl.id, [late], [], [], NOW)
    facts = PageFacts.objects.get(page_id=page)
    assert (facts.crawl_id, facts.headers, facts.first_byte_ms) == (crawl.id, "Server: x\nETag: y", 7)
    assert (facts.description, facts.h1, facts.h1_count) == ("What", "It", 2)
    assert (facts.canonical, facts.canonicals, bytes(facts.digest)) == (f"{START}b", 1, b"d" * 16)
    assert (facts.insecure, facts.fields, facts.kept) == ([], {}, {"warc": ["o", 0, 9]})


def test_of_a_page_that_is_asked_for_again_the_last_answer_is_kept(crawl: Crawl) -> None:
    page = page_id(crawl)
    busy = PageResult(id=page, attempt=3, outcome=Outcome.SERVER_ERROR, http_status=503, headers="Retry-After: 9")
    writer.apply(crawl.id, [busy], [], [], NOW)
    additions.reopen(crawl.id, None, NOW)
    writer.apply(crawl.id, [success(page, headers="Server: x")], [], [], NOW)
    assert PageFacts.objects.get(page_id=page).headers == "Server: x"


def test_of_a_page_nobody_answered_for_nothing_is_kept(crawl: Crawl) -> None:
    writer.apply(crawl.id, [PageResult(id=page_id(crawl), attempt=1, outcome=Outcome.DNS)], [], [], NOW)
    assert not PageFacts.objects.exists()


def test_how_a_page_loaded_is_kept_with_the_closing_and_deleted_with_the_page(crawl: Crawl) -> None:
    page, other = page_id(crawl), page_id(crawl, f"{START}b")
    script = Resource(f"{START}x.js\0", "script", 404, 12, 5, problem=FAILED)
    load = PageLoad(lcp_ms=70, cls=0.25, console_errors=2, failed_requests=1, console=("bad",), requests=(script,))
    writer.apply(crawl.id, [success(page, load=load), success(other)], [], [], NOW)
    writer.apply(crawl.id, [success(page, attempt=2, load=PageLoad())], [], [], NOW)
    stored = models.PageLoad.objects.get(crawl=crawl)  # the other page was not rendered
    assert (stored.page_id, stored.lcp_ms, stored.cls, stored.resource_bytes) == (page, 70, 0.25, None)
    assert (stored.console_errors, stored.failed_requests, stored.console) == (2, 1, ["bad"])
    described = {"kind": "script", "status": 404, "bytes": 12, "ms": 5, "problem": "failed"}
    assert stored.requests == [{"url": f"{START}x.js", **described}]
    writer.delete_rows(crawl.id, 0, 10)
    assert not models.PageLoad.objects.exists()


def test_pages_expire_by_their_own_time_or_the_crawls(crawl: Crawl) -> None:
    began = crawl.round_began_at.timestamp()
    Crawl.objects.filter(id=crawl.id).update(options={"deadline": 100.0, "page_ttl": 30.0})
    writer.apply(crawl.id, [], [], found("early"), began + 10)
    writer.apply(crawl.id, [], [], found("late"), began + 90)
    assert queries.next_expiry(crawl.id) == pytest.approx(began + 40)
    assert writer.close_expired(crawl.id, began + 39) == 0
    assert writer.close_expired(crawl.id, began + 40) == 1
    assert Page.objects.get(url=f"{START}early").outcome == Outcome.EXPIRED
    assert queries.next_expiry(crawl.id) == pytest.approx(began + 100)
    assert_counters_match_rows(crawl)


def test_a_listed_page_has_the_row_a_start_page_has() -> None:
    began, now = timezone.now(), time.time()
    options = CrawlOptions(page_ttl=60.0).to_plain()
    started, listed = (Crawl.objects.create(start_urls=[START], options=options, round_began_at=began) for _ in "ab")
    writer.open_start_pages(started, [START], now)
    entries = [Entry(number, f"{START}{number}", 5) for number in range(bulk.ROWS_PER_STATEMENT)]
    assert (
        writer.open_listed_pages(listed.id, [Entry(1, START, 5), *entries, Entry(9, START, 9)], now) == len(entries) + 1
    )
    of_both = Page.objects.filter(url=START).order_by("id")
    first, second = (
        {name: value for name, value in row.items() if name not in ("id", "crawl_id")} for row in of_both.values()
    )
    assert first == second
    assert_counters_match_rows(listed)


def test_rows_are_deleted_some_at_a_time(crawl: Crawl) -> None:
    first, second = Page.objects.filter(crawl=crawl).order_by("id").values_list("id", flat=True)
    assert [writer.delete_rows(crawl.id, after, 1) for after in (0, first, second)] == [first, second, None]
    assert not Page.objects.filter(crawl=crawl).exists()


def test_closing_the_rest_closes_what_is_open_and_nothing_else(crawl: Crawl) -> None:
    writer.apply(crawl.id, [success(page_id(crawl))], [], found("c"), NOW)
    assert writer.close_rest(crawl.id, Outcome.LIMIT, "enough", NOW) == 2
    assert not queries.has_open(crawl.id)
    assert writer.close_rest(crawl.id, Outcome.LIMIT, "enough", NOW) == 0
    assert_counters_match_rows(crawl)


def test_open_pages_come_in_the_order_of_discovery(crawl: Crawl) -> None:
    first = queries.next_open(crawl.id, 5, after=0, at_most=1, depth=None)
    second = queries.next_open(crawl.id, 5, after=first[0].id, at_most=9, depth=None)
    assert [page.url for page in first + second] == [START, f"{START}b"]


def test_one_depth_can_be_asked_for(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], found("c"), NOW)
    assert [page.url for page in queries.next_open(crawl.id, 5, after=0, at_most=9, depth=1)] == [f"{START}c"]
    assert queries.shallowest_open(crawl.id, NOW) == 0


def test_a_redirect_opens_what_the_depth_limit_cut_off(crawl: Crawl) -> None:
    Crawl.objects.filter(id=crawl.id).update(options=CrawlOptions(max_depth=1).to_plain())
    deeper = [Discovery(f"{START}c", 2, 0, None, Outcome.LIMIT, "deeper than 1 links")]
    writer.apply(crawl.id, [], [], deeper, NOW)
    assert_counters_match_rows(crawl)
    for _ in range(2):
        writer.apply(crawl.id, [], [], [Discovery(f"{START}c", 1, 1, None)], NOW)
    assert Page.objects.filter(url=f"{START}c", status=Page.OPEN, depth=1, outcome="").count() == 1
    assert_counters_match_rows(crawl)


def test_each_limit_counts_the_pages_it_closed_until_they_are_opened(crawl: Crawl) -> None:
    """The depth limit closed /c when it was found, the page limit /d when it was reached; redirects open both again."""
    Crawl.objects.filter(id=crawl.id).update(options=CrawlOptions(max_depth=3).to_plain())
    writer.apply(crawl.id, [], [], [Discovery(f"{START}c", 4, 0, None, Outcome.LIMIT, "deeper than 3 links")], NOW)
    writer.apply(crawl.id, [], [], [Discovery(f"{START}d", 3, 0, None)], NOW)
    rest = writer.close_rest(crawl.id, Outcome.LIMIT, "beyond the limit of 2 pages", NOW, Limit.PAGES)
    assert limits_of(crawl) == {"pages": rest, "depth": 1}
    for url, left in (("c", {"pages": rest}), ("d", {"pages": rest - 1})):
        for _ in range(2):
            writer.apply(crawl.id, [], [], [Discovery(f"{START}{url}", 2, 1, None)], NOW)
        assert limits_of(crawl) == left
    assert writer.close_rest(crawl.id, Outcome.LIMIT, "beyond the limit of 9 bytes", NOW, Limit.BYTES) == 2
    assert limits_of(crawl) == {"pages": rest - 1, "bytes": 2}
    assert_counters_match_rows(crawl)


def test_a_row_names_the_limit_that_closed_it_until_it_is_opened(crawl: Crawl) -> None:
    writer.close_rest(crawl.id, Outcome.LIMIT, "in whatever words", NOW, Limit.BYTES)
    rows = Page.objects.filter(crawl=crawl)
    assert set(rows.values_list("closed_by", flat=True)) == {"bytes"}
    additions.open_again(crawl.id, rows.values_list("id", flat=True), Placement(), NOW)
    assert set(rows.values_list("closed_by", flat=True)) == {None}
    assert limits_of(crawl) == {}


def test_pages_that_an_earlier_version_closed_are_those_their_crawl_counts(crawl: Crawl) -> None:
    rest = writer.close_rest(crawl.id, Outcome.LIMIT, "in whatever words", NOW, Limit.BYTES)
    rows = Page.objects.filter(crawl=crawl)
    rows.update(closed_by=None)
    additions.open_again(crawl.id, rows.values_list("id", flat=True)[:1], Placement(), NOW)
    assert limits_of(crawl) == {"bytes": rest - 1}


def limits_of(crawl: Crawl) -> dict[str, int]:
    crawl.refresh_from_db()
    limits: dict[str, int] = crawl.limits
    return limits


def test_a_redirect_moves_an_open_page_up_to_its_own_level(crawl: Crawl) -> None:
    Crawl.objects.filter(id=crawl.id).update(options=CrawlOptions(max_depth=3).to_plain())
    writer.apply(crawl.id, [], [], [Discovery(f"{START}c", 2, 0, None)], NOW)
    writer.apply(crawl.id, [], [], [Discovery(f"{START}c", 1, 1, None)], NOW)
    assert Page.objects.get(url=f"{START}c").depth == 1
    writer.apply(crawl.id, [], [], [Discovery(f"{START}c", 2, 1, None)], NOW)
    assert Page.objects.get(url=f"{START}c").depth == 1


def test_text_a_server_sent_cannot_break_a_row(crawl: Crawl) -> None:
    strange = "\U0001f642 'quoted\" \\ %s; DROP TABLE"
    broken = strange + "\0\ud800"
    said = PageMetadata(description=broken, h1=broken, insecure=(broken,), fields={broken: [broken]})
    result = success(page_id(crawl), title=broken, content_type="x" * 500, headers=broken, facts=said)
    writer.apply(crawl.id, [result], [], [], NOW)
    page, facts = Page.objects.get(crawl=crawl, url=START), PageFacts.objects.get()
    assert {facts.description, facts.h1, facts.headers, *facts.insecure, *facts.fields} == {strange + "?"}
    assert list(facts.fields.values()) == [[strange + "?"]]
    assert page.title == strange + "?"
    assert len(page.content_type) == 100


def listed(*names: str, **facts: Any) -> list[Discovery]:
    return found(*names, linked=False, in_sitemap=True, **facts)


@pytest.fixture
def with_sitemaps(crawl: Crawl) -> Crawl:
    crawl.options = CrawlOptions(sitemaps=True).to_plain()
    crawl.save(update_fields=["options"])
    return crawl


WAYS = [(found("c"),), (listed("c"),), (found("c"), listed("c")), (listed("c"), found("c"))]


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("ways", WAYS)
def test_it_is_noted_which_ways_lead_to_a_page(
    with_sitemaps: Crawl, ways: tuple[list[Discovery], ...], at_once: bool
) -> None:
    for taken_in in [[page for way in ways for page in way]] if at_once else ways:
        writer.apply(with_sitemaps.id, [], [], taken_in, NOW)
        writer.apply(with_sitemaps.id, [], [], taken_in, NOW)  # a report that is read again
    row = Page.objects.get(crawl=with_sitemaps, url=f"{START}c")
    assert (row.linked, row.in_sitemap) == (found("c") in ways, listed("c") in ways)
    assert_counters_match_rows(with_sitemaps)


def test_the_date_is_that_of_the_first_sitemap(with_sitemaps: Crawl) -> None:
    writer.apply(with_sitemaps.id, [], [], found("c"), NOW)
    for date in ("2026-11-20", "2026-11-21"):
        writer.apply(with_sitemaps.id, [], [], listed("c", lastmod=date), NOW)
    assert Page.objects.get(crawl=with_sitemaps, url=f"{START}c").lastmod == "2026-11-20"


def test_a_sitemap_and_a_page_may_have_one_address(with_sitemaps: Crawl) -> None:
    writer.apply(with_sitemaps.id, [], [], [*found("map.xml"), *found("map.xml", kind=SITEMAP)], NOW)
    rows = Page.objects.filter(crawl=with_sitemaps, url=f"{START}map.xml")
    assert sorted(rows.values_list("kind", flat=True)) == [PAGE, SITEMAP]
    assert_counters_match_rows(with_sitemaps)
