"""Endless sites end by themselves, whatever their URLs are called; honest sites are crawled whole."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from django.db import transaction
from redis import Redis

from crawler.capabilities.traps import page_filters
from crawler.capabilities.traps.crawl_keys import SAID_LOG
from crawler.capabilities.traps.memory import MAX_LOG_BYTES
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.discovery import Discovery
from crawler.frontier.keys import CrawlKeys
from crawler.models import BranchCounts, Page, Trap
from crawler.storage import quarantine, queries, writer
from tests.capabilities.traps import sites
from tests.capabilities.traps.crawl import HOST, NOW, Work, crawled, new_crawl
from tests.capabilities.traps.sites import HONEST, HONEST_PAGES, LARGE, TRAPS, Shown, Site, reachable, sentence
from tests.marking import long_unless

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

ABOUT = {f"/about/{number}" for number in range(HONEST_PAGES)}
COST, COST_OF_EIGHT = 1_500, 12_000  # requests to pages of a trap
NARROWEST = {
    "calendar": ("example.com/calendar/*/*", TrapReason.SILENT),
    "session": ("example.com/…?zx=*", TrapReason.PARAMETER),
    "session in path": ("example.com/s/…", TrapReason.SEGMENT),
    "facets": ("example.com/shop", TrapReason.SILENT),
    "soup": ("example.com/text/*", TrapReason.SILENT),
    "nested login": ("example.com/login…", TrapReason.LONGER),
}
"""Of traps in one branch: the narrowest that holds it, and why it is kept out."""

QUICK = ("tree", "session", "session in path", "soup", "shop")
"""The sites that are not left to `bin/test --all`: those of the others' kind that take the least time."""


@pytest.mark.parametrize("name", long_unless(QUICK, TRAPS))
def test_a_trap_ends_by_itself_in_the_narrowest_branch_and_costs_no_honest_page(name: str) -> None:
    outcomes = crawled(TRAPS[name], COST + HONEST_PAGES + 1)
    assert outcomes.fetched >= ABOUT
    rows = Page.objects.filter(crawl=outcomes.crawl, outcome=Outcome.TRAP)
    assert rows.exists()
    assert rows.count() == sum(trap.quarantined for trap in outcomes.traps.values())
    assert {row.trap_id for row in rows} <= {trap.id for trap in outcomes.traps.values()}
    if name in NARROWEST:
        assert [(trap.pattern, trap.reason) for trap in outcomes.traps.values()] == [NARROWEST[name]]
    for trap in outcomes.traps.values():
        if trap.reason == TrapReason.SILENT:
            pages, others = trap.evidence["pages"], trap.evidence["others"]
            said = (
                f"had only words that {others} others have"
                if name == "soup"
                else f"repeated the content of {others} others"
            )
            error = f"the last {pages} pages of its branch {trap.pattern} {said}"
            assert {row.error for row in rows if row.trap_id == trap.id} == {error}


@pytest.mark.long
def test_eight_traps_on_one_site_end_one_by_one() -> None:
    outcomes = crawled(sites.eight, COST_OF_EIGHT + HONEST_PAGES + sites.NEWS)
    assert outcomes.fetched >= ABOUT | {f"/news/{number}" for number in range(sites.NEWS)}
    assert len(outcomes.traps) >= 8


@pytest.mark.long
def test_an_honest_path_among_many_small_traps_is_crawled_whole() -> None:
    outcomes = crawled(sites.many_calendars, COST + sites.NEWS)
    assert outcomes.fetched >= {f"/news/{number}" for number in range(sites.NEWS)}


@pytest.mark.long
def test_honest_pages_at_the_path_of_a_trap_are_crawled_if_they_lack_its_parameter() -> None:
    outcomes = crawled(sites.replies, COST)
    assert outcomes.fetched >= {f"/view?topic={number}" for number in range(sites.TOPICS)}
    assert all(pattern.endswith("=*") for pattern in outcomes.traps)


@pytest.mark.parametrize(
    "site",
    [
        *(
            pytest.param(site, id=name, marks=() if name in QUICK else pytest.mark.long)
            for name, site in HONEST.items()
        ),
        *(pytest.param(site, id=f"large {name}", marks=pytest.mark.long) for name, site in LARGE.items()),
    ],
)
def test_an_honest_site_is_crawled_whole(site: Site) -> None:
    pages = reachable(site)
    outcomes = crawled(site, 2 * len(pages))
    assert outcomes.fetched == pages
    assert not outcomes.traps


@pytest.mark.long
def test_without_the_option_it_goes_on() -> None:
    work = Work(new_crawl(CrawlOptions(traps=False)), TRAPS["session"])
    for _ in range(40):
        work.step()
    assert work.goes_on()
    assert not BranchCounts.objects.exists()


def test_a_small_site_is_not_counted() -> None:
    crawled(sites.shop(40), 100)
    assert not BranchCounts.objects.exists()


def late(text_from: int, pages: int = 1_600) -> Site:
    """Each of the first products says the same and leads to the next two, so that it looks like a trap."""

    def site(path: str) -> Shown:
        number = int(path.rpartition("/")[2] or 0)
        text = sentence(sites.dice(number)) if number >= text_from else "This product is sold out, sorry."
        return Shown(
            [*sites.MENU, text], [f"/item/{next_}" for next_ in (number * 2 + 1, number * 2 + 2) if next_ < pages]
        )

    return site


def test_a_false_alarm_is_taken_back_by_the_crawl_itself() -> None:
    outcomes = crawled(late(text_from=700), 3_000)
    assert outcomes.most_kept_out > 0, "it was no false alarm"
    assert outcomes.reopened > 0
    assert len(outcomes.fetched) == 1_600
    assert not outcomes.traps


@pytest.mark.long
def test_pages_that_are_first_found_with_the_parameter_of_a_trap_are_requested() -> None:
    """No link leads to them without the parameter."""
    late = range(100, 160)

    def site(path: str) -> Shown:
        query = dict(parse_qsl(urlsplit(path).query))
        if int(query.get("page", 0)) in late:
            return Shown(["What is only here, at the very end of this site."], [f"/only-from/{query['page']}"])
        shown = TRAPS["session"](path)
        if not Trap.objects.exists() or not path.startswith("/list"):
            return shown
        more = [f"/list?page={number}&zx={sites.dice(path, number).random()}" for number in late]
        return shown._replace(links=[*shown.links, *more])

    outcomes = crawled(site, COST)
    assert outcomes.fetched >= {f"/only-from/{number}" for number in late}


def test_a_report_that_is_processed_again_teaches_nothing() -> None:
    learnt = []
    for times in (1, 3):
        work = Work(new_crawl(), TRAPS["session"])
        while not Trap.objects.filter(crawl=work.crawl).exists():
            work.step(times)
        [trap] = Trap.objects.filter(crawl=work.crawl)
        learnt.append((trap.pages, trap.quarantined, trap.evidence))
    assert learnt[0] == learnt[1]


def test_a_rollback_undoes_what_was_learnt() -> None:
    class Killed(Exception):
        """Stands for a death before the commit."""

    work = Work(new_crawl(), TRAPS["session"])

    def half_done() -> None:
        with transaction.atomic():
            while not BranchCounts.objects.exists():
                work.step()
            raise Killed

    with pytest.raises(Killed):
        half_done()
    assert not BranchCounts.objects.exists()
    assert crawled(TRAPS["session"], COST, work.crawl).traps


def test_a_released_trap_is_open_and_nothing_of_it_is_kept_out_again() -> None:
    outcomes = crawled(TRAPS["session"], COST)
    [trap] = outcomes.traps.values()
    assert writer.release(outcomes.crawl.id, quarantine.shown(outcomes.crawl), NOW) == (1, trap.quarantined)
    work = Work(outcomes.crawl, TRAPS["session"])
    for _ in range(20):
        work.step()
    assert not Page.objects.filter(crawl=outcomes.crawl, outcome=Outcome.TRAP).exists()
    outcomes.crawl.refresh_from_db()
    assert outcomes.crawl.tallies == queries.count_rows(outcomes.crawl.id)


def test_pages_in_a_sitemap_are_requested() -> None:
    crawl = new_crawl()
    listed = [Discovery(f"{HOST}/list?page=0&zx=listed{number}", 0, 0, None, in_sitemap=True) for number in range(30)]
    work = Work(crawl, TRAPS["session"])
    while not Trap.objects.exists():
        work.step()
    writer.apply(crawl.id, [], [], listed, NOW)
    assert Page.objects.filter(in_sitemap=True, status=Page.OPEN).count() == 30


@pytest.mark.long
def test_another_crawl_learns_for_itself() -> None:
    one = crawled(TRAPS["session"], COST)
    other = crawled(TRAPS["session"], COST)
    assert other.requests == one.requests
    one.crawl.delete()
    assert BranchCounts.objects.count() == 1


def test_pages_beyond_the_rows_of_a_trap_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_filters, "MAX_QUARANTINED", 100)
    outcomes = crawled(TRAPS["session"], COST)
    [trap] = outcomes.traps.values()
    assert trap.left_out > 0


@pytest.mark.long
def test_what_was_read_of_a_short_trap_takes_few_bytes(real_redis: Redis) -> None:
    outcomes = crawled(TRAPS["tree"], 2 * COST)
    key = CrawlKeys(str(outcomes.crawl.id)).of(SAID_LOG)
    assert 0 < sum(map(len, real_redis.lrange(key, 0, -1))) <= MAX_LOG_BYTES
    assert real_redis.dbsize() <= 3
