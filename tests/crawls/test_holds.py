"""A crawl whose owner's pages of the day are used up waits for the next day, and loses nothing."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler import clock
from crawler.clock import SharedClock
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import OverQuota
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls import control
from crawler.crawls.actions import RESUME, reply_to
from crawler.crawls.reconcile import scan
from crawler.crawls.schedules import add_schedule, run_due
from crawler.crawls.start import start_crawl
from crawler.manager.add import add
from crawler.models import Crawl, Disagreement, Notice, PageFacts, Schedule, Usage
from crawler.reports.diagnosis import why_of
from crawler.reports.receipt import receipt_of
from crawler.storage import sql
from tests.bench import Bench
from tests.content_storages import kept_in
from tests.factories import a_finished_crawl, a_person
from tests.manager.test_rescue_job import planted, start_a_worker
from tests.site import page

CHAIN = {"/": page("/a"), "/a": page("/b"), "/b": page("/c"), "/c": page()}


@pytest.fixture(autouse=True)
def _it_is_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A day of the real clock may end during a test, and its last minutes are waited for by an idle poller."""
    day = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    ahead = day.timestamp() - time.time()
    monkeypatch.setattr(clock, "shared", SharedClock(lambda: clock.redis_time() + ahead))


@pytest.fixture
def ann(settings: Any) -> User:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]  # a user with a quota may allow none herself
    return a_person("ann")


def start(bench: Bench, owner: User, **options: object) -> Crawl:
    chosen = CrawlOptions(**options)  # type: ignore[arg-type]
    bench.crawl = start_crawl([f"{bench.site.url}/"], chosen, owner=owner, allow_private=owner.is_superuser)
    return bench.crawl


def refreshed(crawl: Crawl) -> Crawl:
    crawl.refresh_from_db()
    return crawl


def the_next_day(crawl: Crawl) -> None:
    """As if midnight had passed: what was counted belongs to yesterday."""
    day = timedelta(days=1)
    for row in Usage.objects.all():
        Usage.objects.filter(pk=row.pk).update(day=row.day - day)
    Crawl.objects.filter(pk=crawl.pk).update(held_until=clock.now() - timedelta(seconds=1))


@pytest.mark.site(CHAIN)
def test_a_crawl_beyond_the_quota_is_held_until_midnight(bench: Bench, ann: User, settings: Any) -> None:
    settings.CRAWLER_PAGES_A_DAY = 2
    crawl = start(bench, ann)
    bench.work()
    assert bench.state() == "paused"
    held_until = refreshed(crawl).held_until
    assert held_until is not None
    assert held_until > clock.now()
    assert (held_until.hour, held_until.minute) == (0, 0)
    assert sum(row.pages for row in Usage.objects.all()) == 2
    assert set(bench.site.hits) == {"/robots.txt", "/", "/a"}


@pytest.mark.site(CHAIN)
def test_it_goes_on_the_next_day_and_its_receipt_adds_up(bench: Bench, ann: User, settings: Any) -> None:
    settings.CRAWLER_PAGES_A_DAY = 2
    crawl = start(bench, ann)
    bench.work()
    the_next_day(crawl)
    scan()
    bench.work()
    assert bench.state() == "finished"
    assert refreshed(crawl).held_until is None
    receipt = receipt_of(crawl)
    assert (receipt["discovered"], receipt["fetched"]) == (4, 4)
    assert {path: hits for path, hits in bench.site.hits.items() if path != "/robots.txt"} == dict.fromkeys(CHAIN, 1)
    assert Notice.objects.filter(event="crawl.finished").count() == 1


@pytest.mark.site(CHAIN)
def test_a_stock_worker_alone_goes_on_with_it(bench: Bench, ann: User, settings: Any) -> None:
    """It looks for abandoned jobs when it starts, and every ten minutes while it is idle."""
    settings.CRAWLER_PAGES_A_DAY = 2
    crawl = start(bench, ann)
    bench.work()
    assert bench.jobs("crawl") == bench.jobs("fetch") == []
    start_a_worker()
    assert bench.state() == "paused"
    the_next_day(crawl)
    start_a_worker()
    assert bench.state() == "finished"
    assert planted() == []


@pytest.mark.site(CHAIN)
def test_a_crawl_whose_last_page_uses_up_the_day_is_finished(bench: Bench, ann: User, settings: Any) -> None:
    settings.CRAWLER_PAGES_A_DAY = 4
    start(bench, ann)
    bench.work()
    assert bench.state() == "finished"


@pytest.mark.site(CHAIN)
def test_a_held_crawl_whose_last_page_comes_in_is_finished(bench: Bench, ann: User) -> None:
    crawl = start(bench, ann, recursive=False)
    bench.work("crawl", at_most=1)
    control.hold(crawl.id, clock.now() + timedelta(days=1))
    bench.context.frontier.clear_paused()  # the page is on its way already, and its answer comes in
    bench.work()
    assert bench.state() == "finished"


@pytest.mark.site(CHAIN)
def test_crawls_of_superusers_and_without_an_owner_go_on(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_PAGES_A_DAY = 1
    start(bench, a_person("root", superuser=True))
    bench.work()
    assert bench.state() == "finished"
    bench.run()
    assert bench.state() == "finished"


WIDE = {"/": page(*(f"/{number}" for number in range(20))), **{f"/{number}": page() for number in range(20)}}


@pytest.mark.site(WIDE)
def test_of_many_pages_at_hand_no_more_are_asked_for_than_are_left(bench: Bench, ann: User, settings: Any) -> None:
    settings.CRAWLER_PAGES_A_DAY = 7
    crawl = start(bench, ann, concurrency=8)
    for day in (1, 2, 3):
        bench.work()
        asked = sum(hits for path, hits in bench.site.hits.items() if path != "/robots.txt")
        assert asked == 7 * day
        the_next_day(crawl)
        scan()
    assert bench.state() == "finished"
    assert Disagreement.objects.count() == 0


@pytest.mark.site(WIDE)
def test_two_crawls_of_one_person_never_wait_for_each_other(bench: Bench, ann: User, settings: Any) -> None:
    """Each counts what it has out itself, so that together they may ask for some more."""
    settings.CRAWLER_PAGES_A_DAY = 12
    crawls = [start(bench, ann), start(bench, ann)]
    bench.work()
    assert {refreshed(crawl).state for crawl in crawls} == {"paused"}
    assert 12 <= sum(row.pages for row in Usage.objects.all()) < 24
    assert Disagreement.objects.count() == 0


def a_held_crawl(bench: Bench, owner: User, settings: Any) -> Crawl:
    settings.CRAWLER_PAGES_A_DAY = 1
    crawl = start(bench, owner)
    sql.add(owner.pk, 1, clock.epoch_seconds())
    bench.work("crawl", at_most=1)
    assert refreshed(crawl).held_until is not None
    return crawl


def test_resuming_too_early_changes_nothing_and_says_why(bench: Bench, ann: User, settings: Any) -> None:
    crawl = a_held_crawl(bench, ann, settings)
    moved = control.resume(crawl.id)
    reply = reply_to(RESUME, moved, crawl.id)
    assert (moved, reply.is_so) == (False, False)
    assert reply.line.startswith("It is paused, because its owner has reached the limit of pages a day. It continues")


def test_a_larger_allowance_lets_it_be_resumed_at_once(bench: Bench, ann: User, settings: Any) -> None:
    crawl = a_held_crawl(bench, ann, settings)
    settings.CRAWLER_PAGES_A_DAY = 10
    assert control.resume(crawl.id)
    assert refreshed(crawl).held_until is None


def test_a_person_who_pauses_a_held_crawl_keeps_it_paused(bench: Bench, ann: User, settings: Any) -> None:
    crawl = a_held_crawl(bench, ann, settings)
    assert control.pause(crawl.id)
    assert not control.pause(crawl.id)
    the_next_day(crawl)
    Crawl.objects.update(held_until=None)
    scan()
    assert bench.state() == "paused"


def test_a_held_crawl_can_be_cancelled(bench: Bench, ann: User, settings: Any) -> None:
    crawl = a_held_crawl(bench, ann, settings)
    assert control.cancel(crawl.id)
    the_next_day(crawl)
    scan()
    assert bench.state() == "cancelled"


@pytest.mark.site(CHAIN)
def test_a_crawl_whose_owner_may_store_no_more_waits_until_something_is_deleted(
    bench: Bench, ann: User, settings: Any
) -> None:
    settings.CRAWLER_STORED_PAGES = 12
    full = a_finished_crawl(ann, discovered=11)
    crawl = start(bench, ann)
    bench.work()
    assert bench.state() == "paused"
    said = "its owner's crawls store 12 pages, and may store 12; delete some of these crawls to make room."
    assert any(said in sentence for sentence in why_of(refreshed(crawl))["sentences"])
    with pytest.raises(OverQuota, match="Its owner's crawls store 12 pages"):
        add(crawl.id, [f"{bench.site.url}/a"], by=OPERATOR)
    full.delete()
    assert control.resume(crawl.id)
    bench.work()
    assert bench.state() == "finished"


@pytest.mark.site({"/": page("/a"), "/a": page()})
def test_kept_content_is_counted_as_it_is_stored(bench: Bench, tmp_path: Path, settings: Any) -> None:
    kept_in(tmp_path, settings)
    crawl = bench.run(keep=("html",))
    places = PageFacts.objects.filter(crawl=crawl).values_list("kept", flat=True)
    lengths = [kept["html"][2] for kept in places]
    assert len(lengths) == 2
    assert refreshed(crawl).kept_bytes == sum(lengths)


def test_why_says_that_it_goes_on_by_itself(bench: Bench, ann: User, settings: Any) -> None:
    crawl = a_held_crawl(bench, ann, settings)
    assert "its owner has reached the limit of pages a day. It continues in" in why_of(crawl)["sentences"][0]


def test_a_crawl_too_many_is_refused_and_nothing_is_made(bench: Bench, ann: User, settings: Any) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS = 1
    start(bench, ann)
    with pytest.raises(OverQuota, match="1 crawl that is not over"):
        start_crawl([bench.site.url], CrawlOptions(), owner=ann)
    with pytest.raises(OverQuota):
        start_crawl([bench.site.url], CrawlOptions(), "every 1h", owner=ann)
    assert (Crawl.objects.count(), Schedule.objects.count()) == (1, 0)


def test_a_schedule_whose_owner_has_crawls_enough_says_so_and_tries_next_time(
    bench: Bench, ann: User, settings: Any
) -> None:
    settings.CRAWLER_ACTIVE_CRAWLS = 1
    start(bench, ann)
    schedule = add_schedule([bench.site.url], CrawlOptions(), "every 1h", owner=ann)
    due = schedule.next_at + timedelta(seconds=1)
    assert run_due(due) == 0
    schedule.refresh_from_db()
    assert "1 crawl that is not over" in schedule.last_error
    assert schedule.next_at > due
    control.cancel(bench.crawl.id)
    assert run_due(schedule.next_at) == 1
