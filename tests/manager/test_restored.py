"""The database is replaced by an older one, such as a backup, and Redis still knows pages that it has lost."""

import pytest
from django.db import connection

from crawler import registry
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import Batch, PageResult, SliceReport
from crawler.crawls import reconcile
from crawler.crawls.delete import delete
from crawler.crawls.retry import retry_failed
from crawler.crawls.start import start_crawl
from crawler.manager.tick import manage
from crawler.models import Crawl, Delivery, Disagreement, Page, PageFacts, PageLinks
from crawler.queueing.wakeups import wake
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, Site, page

MALFORMED = Reply("not compressed at all", headers={"Content-Encoding": "gzip"})
SITE = {"/": page("/a", "/b"), "/a": page("/c"), "/b": page(), "/c": page(), "/hook": Reply()}
FAILING = {"/": page("/broken"), "/broken": MALFORMED, "/hook": Reply()}
NOTICED = "the database is older than Redis"

pytestmark = pytest.mark.site(SITE)


class Backup:
    """The rows of all crawls, and the ids that would come next."""

    def __init__(self) -> None:
        self._rows = [(model, list(model.objects.all())) for model in (Crawl, Page, PageLinks, PageFacts)]
        self._newest = max(Page.objects.values_list("id", flat=True))

    def restore(self) -> None:
        for model, _ in reversed(self._rows):
            model.objects.all().delete()
        for model, rows in self._rows:
            model.objects.bulk_create(rows)  # type: ignore[attr-defined]  # mypy takes the models for one that is both
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = 'crawler_page'", [self._newest])
            else:
                cursor.execute("SELECT setval(pg_get_serial_sequence('crawler_page', 'id'), %s)", [self._newest])


def started(bench: Bench) -> Backup:
    """A crawl of which the backup has the start page alone, while the pages it leads to are handed out."""
    bench.start()
    backup = Backup()
    bench.work("crawl", at_most=1)
    bench.work("fetch", at_most=1)
    manage(bench.crawl.id)
    assert Page.objects.count() == 3
    return backup


def report(bench: Bench, batch: Batch, pages: int, title: str) -> None:
    """The results of the first pages of this batch's only slice arrive, and a tick processes them."""
    (part,) = batch.slices
    results = tuple(
        PageResult(id=task.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200, title=title, requests=1)
        for task in part.pages[:pages]
    )
    assert len(results) == pages
    told = SliceReport(batch=batch.id, token=batch.token, slice=0, host=part.host, results=results, done=False)
    wake(bench.context.frontier, bench.crawl.site, [told])
    manage(bench.crawl.id)


def work_on(bench: Bench) -> None:
    """After nothing was left to be done."""
    reconcile.scan()
    bench.work()


def test_the_crawl_goes_on_from_the_older_one_and_misses_nothing(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    backup = started(bench)
    backup.restore()
    bench.work()
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["fetched"] == Page.objects.count() == 4
    assert bench.site.hits["/"] == 2
    assert caplog.text.count(NOTICED) == 1
    assert not Disagreement.objects.exists()


def test_what_capabilities_know_of_lost_pages_is_deleted(bench: Bench) -> None:
    backup = started(bench)
    frontier = bench.context.frontier
    keys = [frontier.keys.of(name) for name in registry.entries("crawl_keys", str)]
    frontier.redis.mset(dict.fromkeys(keys, "of a lost page"))
    backup.restore()
    manage(bench.crawl.id)
    assert not frontier.redis.exists(*keys)


def test_a_database_that_is_not_replaced_is_left_alone(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.run()
    assert bench.state() == "finished"
    assert set(bench.site.hits.values()) == {1}
    assert NOTICED not in caplog.text


def test_the_result_of_a_lost_row_closes_no_other_page(bench: Bench) -> None:
    """A worker goes on with the batch it had; its results come when the table has new rows."""
    backup = started(bench)
    (batch,) = bench.batches()
    backup.restore()
    manage(bench.crawl.id)
    bench.work("fetch", at_most=1)
    manage(bench.crawl.id)
    assert Page.objects.filter(status=Page.OPEN).count() == 2
    report(bench, batch, 2, "late")
    assert not Page.objects.filter(title="late").exists()
    assert Page.objects.filter(status=Page.OPEN).count() == 2


def test_a_page_that_is_open_again_is_noticed_too(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The backup has all rows, and lacks the end of one."""
    started(bench)
    backup = Backup()
    (batch,) = bench.batches()
    report(bench, batch, 1, "lost")
    assert Page.objects.filter(status=Page.OPEN).count() == 1
    backup.restore()
    manage(bench.crawl.id)
    assert NOTICED in caplog.text
    bench.work()
    assert bench.state() == "finished"
    assert receipt_of(bench.crawl)["fetched"] == 4
    assert not Disagreement.objects.exists()


def test_each_crawl_notices_it(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with Site(SITE).serving() as site:
        other = start_crawl([f"{site.url}/"], CrawlOptions(), allow_private=True)
        bench.start()
        backup = Backup()
        bench.work("crawl", at_most=2)
        bench.work("fetch", at_most=2)
        for crawl in (bench.crawl, other):
            manage(crawl.id)
        lost = set(Page.objects.filter(crawl=other, depth=1).values_list("id", flat=True))
        assert len(lost) == 2
        backup.restore()
        work_on(bench)
    assert caplog.text.count(NOTICED) == 2
    assert lost.isdisjoint(Page.objects.filter(crawl=other).values_list("id", flat=True))
    assert list(Crawl.objects.values_list("state", "discovered")) == [("finished", 4)] * 2


def test_a_crawl_that_was_deleted_and_is_back_stays(bench: Bench) -> None:
    backup = started(bench)
    delete(bench.crawl.id)
    backup.restore()
    for _ in range(2):
        work_on(bench)
    assert bench.state() == "finished"
    assert Page.objects.count() == 4
    assert delete(bench.crawl.id)
    assert not Crawl.objects.exists()


def test_a_crawl_that_finishes_again_is_announced_under_the_same_id(bench: Bench) -> None:
    bench.start(notify_webhooks=(f"{bench.site.url}/hook",))
    backup = Backup()
    bench.work()
    (first,) = Delivery.objects.all()
    backup.restore()
    assert not Delivery.objects.exists()
    work_on(bench)
    (second,) = Delivery.objects.all()
    assert bench.site.hits["/hook"] == 2
    assert (second.id, second.notice_id) == (first.id, first.notice_id)


@pytest.mark.site(FAILING)
def test_the_end_of_a_later_retry_is_another_event(bench: Bench) -> None:
    """The backup is from before the retry; afterwards a user retries once more."""
    bench.run(notify_webhooks=(f"{bench.site.url}/hook",))
    backup, ids = Backup(), set(Delivery.objects.values_list("id", flat=True))
    for _ in range(2):
        retry_failed(bench.crawl.id)
        bench.work()
        ids.update(Delivery.objects.values_list("id", flat=True))
        backup.restore()
    assert len(ids) == 3
