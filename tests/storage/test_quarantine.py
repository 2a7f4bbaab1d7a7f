"""Suspected pages are judged by counts that are exact: a report taken in twice, or again after a death, counts once."""

from datetime import date

import pytest
from django.db import transaction
from msgspec.structs import replace

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages import traps
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.discovery import Discovery, suspected
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page, Trap
from crawler.storage import quarantine, queries, writer

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000.0
SITE = "https://example.com"
TODAY = date(2026, 11, 21)


@pytest.fixture
def crawl() -> Crawl:
    crawl = Crawl.objects.create(start_urls=[f"{SITE}/"], options=CrawlOptions().to_plain())
    writer.open_start_pages(crawl, [f"{SITE}/", f"{SITE}/other"], NOW)
    return crawl


def shop(*names: str, parent: int | None = None) -> list[Discovery]:
    """Combinations of three filters."""
    found = [Discovery(f"{SITE}/shop?a={name}&b=1&c=2", 1, 0, parent) for name in names]
    return [suspected(page, SITE, TODAY) for page in found]


def loop(*names: str, parent: int | None = None) -> list[Discovery]:
    found = [Discovery(f"{SITE}/img/img/img/{name}", 1, 0, parent) for name in names]
    return [suspected(page, SITE, TODAY) for page in found]


def trap() -> Trap:
    return Trap.objects.get()


def start_page(crawl: Crawl) -> Page:
    page = crawl.pages.filter(parent_id=None).order_by("id").first()
    assert page is not None
    return page


def test_a_page_that_nobody_suspects_costs_no_question(crawl: Crawl, django_assert_num_queries: object) -> None:
    found = [suspected(Discovery(f"{SITE}/a", 1, 0, None), SITE, TODAY)]
    with django_assert_num_queries(0):  # type: ignore[operator]  # pytest-django's fixture has no types
        assert quarantine.sort_out(crawl, found, ()).pages == found


def test_a_page_of_a_trap_gets_a_row_that_says_why_it_is_not_asked_for(crawl: Crawl) -> None:
    tallies = writer.apply(crawl.id, [], [], loop("a"), NOW).tallies
    row = crawl.pages.get(outcome=Outcome.TRAP)
    assert (row.status, row.trap_id, row.error) == (Page.CLOSED, trap().id, "its path goes round in circles")
    assert (trap().reason, trap().quarantined, trap().pages) == (TrapReason.REPEATED, 1, 0)
    assert tallies.skipped() == {"trap": 1}
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)


def test_pages_are_let_in_up_to_the_limit(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "COMBINATIONS", {2: 2, 3: 2})
    monkeypatch.setattr(traps, "REPEATED", {2: 0, 3: 0})
    writer.apply(crawl.id, [], [], shop("1"), NOW)
    writer.apply(crawl.id, [], [], shop("2", "3", "4"), NOW)
    assert (trap().pages, trap().quarantined) == (2, 2)
    assert crawl.pages.filter(url__contains="shop", status=Page.OPEN).count() == 2


def test_the_same_report_again_counts_nothing(crawl: Crawl) -> None:
    for _ in range(3):
        writer.apply(crawl.id, [], [], [*shop("1", "2"), *loop("a")], NOW)
    counts = {trap.reason: (trap.pages, trap.quarantined) for trap in Trap.objects.all()}
    assert counts == {TrapReason.FILTERS: (2, 0), TrapReason.REPEATED: (0, 1)}


def test_what_is_undone_with_its_transaction_was_never_counted(crawl: Crawl) -> None:
    class Killed(Exception):
        """Stands for a death before the commit."""

    def half_done() -> None:
        with transaction.atomic():
            writer.apply(crawl.id, [], [], shop("1", "2"), NOW)
            raise Killed

    with pytest.raises(Killed):
        half_done()
    writer.apply(crawl.id, [], [], shop("1", "2"), NOW)
    assert trap().pages == 2


def test_the_values_of_parameters_are_kept_with_the_count(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], shop("1", "2"), NOW)
    writer.apply(crawl.id, [], [], shop("2", "3"), NOW)
    assert {name: len(values) for name, values in trap().seen_values.items()} == {"/": 1, "a": 3, "b": 1, "c": 1}


@pytest.mark.parametrize("reads", [1, 3])
def test_beyond_its_rows_a_trap_counts_links_once_a_page_they_are_on(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    monkeypatch.setattr(traps, "MAX_QUARANTINED", 1)
    parent = start_page(crawl)
    result = PageResult(id=parent.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200, fetched_at=NOW)
    found = loop("a", "b", "c", parent=parent.id)
    for _ in range(reads):
        applied = writer.apply(crawl.id, [result], [], found, NOW)
    assert (trap().quarantined, trap().left_out) == (1, 2)
    assert applied.left_out == {page.key for page in found[1:]}  # so that the seen-set is not told of them
    assert crawl.pages.filter(url__contains="img").count() == 1


def test_what_a_sitemap_lists_too_is_asked_for(crawl: Crawl) -> None:
    [suspect] = loop("a")
    listed = replace(suspect, suspicion=None, linked=False, in_sitemap=True)
    writer.apply(crawl.id, [], [], [suspect, listed], NOW)
    assert crawl.pages.get(url=suspect.url).status == Page.OPEN
    assert not Trap.objects.filter(quarantined__gt=0).exists()


def test_released_its_pages_are_open_and_it_quarantines_no_more(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], loop("a", "b"), NOW)
    assert writer.release(crawl.id, quarantine.shown(crawl), NOW) == (1, 2)
    assert crawl.pages.filter(url__contains="img", status=Page.OPEN, trap_id=None, error="").count() == 2
    assert (trap().released, trap().pages, trap().quarantined) == (True, 2, 0)
    writer.apply(crawl.id, [], [], loop("c"), NOW)
    assert not crawl.pages.filter(outcome=Outcome.TRAP).exists()
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)
    assert writer.release(crawl.id, quarantine.shown(crawl).filter(released=False), NOW) == (0, 0)


def test_a_shape_that_kept_nothing_out_is_not_shown(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], shop("1"), NOW)
    assert Trap.objects.exists()
    assert not quarantine.shown(crawl).exists()


def test_the_traps_of_another_crawl_are_its_own(crawl: Crawl) -> None:
    other = Crawl.objects.create(start_urls=[f"{SITE}/"], options=CrawlOptions().to_plain())
    writer.apply(crawl.id, [], [], loop("a"), NOW)
    writer.apply(other.id, [], [], loop("a"), NOW)
    writer.release(crawl.id, quarantine.shown(crawl), NOW)
    assert other.pages.get().outcome == Outcome.TRAP
    assert [trap.released for trap in quarantine.shown(other)] == [False]
