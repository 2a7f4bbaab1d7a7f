"""Pages beyond a bound are kept out by counts that are exact: a report that is processed twice, or again after a death,
counts once."""

import pytest
from django.db import transaction

from crawler.capabilities.traps import bounds, page_filters
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.models import Crawl, Page, Trap
from crawler.storage import quarantine, queries, writer

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000.0
SITE = "https://example.com"


@pytest.fixture
def crawl() -> Crawl:
    crawl = Crawl.objects.create(start_urls=[f"{SITE}/"], options=CrawlOptions().to_plain())
    writer.open_start_pages(crawl, [f"{SITE}/", f"{SITE}/other"], NOW)
    return crawl


def deep(crawl: Crawl, *names: str) -> list[Discovery]:
    """Pages with a path that is too deep."""
    folders = "img/" * bounds.MAX_SEGMENTS
    return [Discovery(f"{SITE}/{folders}{name}", 1, 0, start_page(crawl).id) for name in names]


def series(crawl: Crawl, *numbers: int) -> list[Discovery]:
    """Pages far from the start."""
    parent = start_page(crawl).id
    return [Discovery(f"{SITE}/shop?page={number}", bounds.SERIES_DEPTH + 1, 0, parent) for number in numbers]


def trap() -> Trap:
    return Trap.objects.get()


def start_page(crawl: Crawl) -> Page:
    page = crawl.pages.filter(parent_id=None).order_by("id").first()
    assert page is not None
    return page


@pytest.fixture
def two_of_a_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SERIES_PAGES", 2)


def test_an_ordinary_page_costs_no_query(crawl: Crawl, django_assert_num_queries: object) -> None:
    found = [Discovery(f"{SITE}/a", 1, 0, start_page(crawl).id)]
    with django_assert_num_queries(0):  # type: ignore[operator]  # pytest-django's fixture has no types
        assert quarantine.sort_out(crawl, found, {}).pages == found


def test_a_page_of_a_trap_gets_a_row_that_says_why_it_is_not_requested(crawl: Crawl) -> None:
    tallies = writer.apply(crawl.id, [], [], deep(crawl, "a"), NOW).tallies
    row = crawl.pages.get(outcome=Outcome.TRAP)
    error = "its URL is longer than the already long URL of the page that links to it"
    assert (row.status, row.trap_id, row.error) == (Page.CLOSED, trap().id, error)
    assert (trap().reason, trap().quarantined, trap().pages) == (TrapReason.LONGER, 1, 0)
    assert tallies.skipped() == {"trap": 1}
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)


@pytest.mark.usefixtures("two_of_a_series")
def test_pages_are_let_in_up_to_the_limit(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], series(crawl, 1), NOW)
    writer.apply(crawl.id, [], [], series(crawl, 2, 3, 4), NOW)
    assert (trap().pages, trap().quarantined) == (2, 2)
    assert crawl.pages.filter(url__contains="shop", status=Page.OPEN).count() == 2


@pytest.mark.usefixtures("two_of_a_series")
def test_the_same_report_again_counts_nothing(crawl: Crawl) -> None:
    for _ in range(3):
        writer.apply(crawl.id, [], [], [*series(crawl, 1, 2), *deep(crawl, "a")], NOW)
    counts = {trap.reason: (trap.pages, trap.quarantined) for trap in Trap.objects.all()}
    assert counts == {TrapReason.SERIES: (2, 0), TrapReason.LONGER: (0, 1)}


@pytest.mark.usefixtures("two_of_a_series")
def test_what_is_undone_with_its_transaction_was_never_counted(crawl: Crawl) -> None:
    class Killed(Exception):
        """Stands for a death before the commit."""

    def half_done() -> None:
        with transaction.atomic():
            writer.apply(crawl.id, [], [], series(crawl, 1, 2), NOW)
            raise Killed

    with pytest.raises(Killed):
        half_done()
    writer.apply(crawl.id, [], [], series(crawl, 1, 2), NOW)
    assert trap().pages == 2


@pytest.mark.parametrize("reads", [1, 3])
def test_beyond_its_rows_a_trap_counts_links_once_a_page_they_are_on(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    monkeypatch.setattr(page_filters, "MAX_QUARANTINED", 1)
    result = PageResult(id=start_page(crawl).id, attempt=1, outcome=Outcome.SUCCESS, http_status=200, fetched_at=NOW)
    found = deep(crawl, "a", "b", "c")
    for _ in range(reads):
        applied = writer.apply(crawl.id, [result], [], found, NOW)
    assert (trap().quarantined, trap().left_out) == (1, 2)
    assert applied.left_out == {page.key for page in found[1:]}  # so that the seen-set does not get them
    assert crawl.pages.filter(url__contains="img").count() == 1


def test_what_a_sitemap_lists_too_is_requested(crawl: Crawl) -> None:
    [page] = deep(crawl, "a")
    listed = Discovery(page.url, 1, 0, page.parent_id, linked=False, in_sitemap=True)
    writer.apply(crawl.id, [], [], [page, listed], NOW)
    assert crawl.pages.get(url=page.url).status == Page.OPEN
    assert not Trap.objects.filter(quarantined__gt=0).exists()


def test_released_its_pages_are_open_and_it_quarantines_no_more(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], deep(crawl, "a", "b"), NOW)
    assert writer.release(crawl.id, quarantine.shown(crawl), NOW) == (1, 2)
    assert crawl.pages.filter(url__contains="img", status=Page.OPEN, trap_id=None, error="").count() == 2
    assert (trap().released, trap().pages, trap().quarantined) == (True, 2, 0)
    writer.apply(crawl.id, [], [], deep(crawl, "c"), NOW)
    assert not crawl.pages.filter(outcome=Outcome.TRAP).exists()
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)
    assert writer.release(crawl.id, quarantine.shown(crawl).filter(released=False), NOW) == (0, 0)


def test_a_pattern_that_kept_nothing_out_is_not_shown(crawl: Crawl) -> None:
    writer.apply(crawl.id, [], [], series(crawl, 1), NOW)
    assert Trap.objects.exists()
    assert not quarantine.shown(crawl).exists()


def test_the_traps_of_another_crawl_are_its_own(crawl: Crawl) -> None:
    other = Crawl.objects.create(start_urls=[f"{SITE}/"], options=CrawlOptions().to_plain())
    writer.open_start_pages(other, [f"{SITE}/"], NOW)
    writer.apply(crawl.id, [], [], deep(crawl, "a"), NOW)
    writer.apply(other.id, [], [], deep(other, "a"), NOW)
    writer.release(crawl.id, quarantine.shown(crawl), NOW)
    assert other.pages.get(outcome=Outcome.TRAP).trap_id is not None
    assert [trap.released for trap in quarantine.shown(other)] == [False]
