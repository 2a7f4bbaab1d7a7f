"""The figures of a crawl's queue: pages in and out, dead letters, and the age of the oldest page that is due."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawler import conf
from crawler.core.access.reach import OPERATOR
from crawler.core.pages.placement import Placement
from crawler.core.protocol.counters import adds_up
from crawler.crawls.control import cancel
from crawler.crawls.retry import retry_failed
from crawler.frontier.ready_queue import encode_member
from crawler.manager.add import add
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.reports.queue_figures import line, oldest_due, plain, queue_figures
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

pytestmark = pytest.mark.usefixtures("transactional_db", "real_redis")

PAGES = {"/": page("/a", "/b"), "/a": page(), "/b": Reply(status=500)}


@pytest.fixture
def begun(bench: Bench) -> Bench:
    """A crawl that began an hour ago, whose start page is due."""
    bench.start()
    Crawl.objects.update(round_began_at=bench.crawl.round_began_at - timedelta(hours=1))
    bench.crawl.refresh_from_db()
    return bench


def flow_of(bench: Bench) -> list[int]:
    """Pages in, out, retried, dead."""
    bench.crawl.refresh_from_db()
    return list(bench.crawl.flow[-1][1:])


def due_since(ago: float, bench: Bench, url: str = "") -> None:
    Page.objects.filter(url__endswith=url).update(due_since=bench.context.now() - ago)


@pytest.mark.site(PAGES)
def test_the_oldest_page_that_is_due_counts_and_a_later_one_does_not(begun: Bench) -> None:
    now = begun.context.now()
    add(begun.crawl.id, [begun.site.url + "/later"], Placement(not_before=now + 600), by=OPERATOR)
    add(begun.crawl.id, [begun.site.url + "/new"], Placement(), by=OPERATOR)
    due_since(90, begun, "/")
    assert oldest_due(begun.crawl, begun.context.now()) == pytest.approx(90, abs=5)
    Page.objects.filter(url__endswith="/").delete()
    assert oldest_due(begun.crawl, begun.context.now()) == pytest.approx(0, abs=5)
    assert oldest_due(begun.crawl, now + 700) == pytest.approx(700, abs=5)


@pytest.mark.site(PAGES)
def test_pages_that_are_handed_out_do_not_count(begun: Bench) -> None:
    due_since(90, begun)
    for number in range(3):
        add(begun.crawl.id, [f"{begun.site.url}/{number}"], Placement(), by=OPERATOR)
    start, *rest = Page.objects.order_by("id")
    keys = begun.context.frontier.keys
    queues.connection().sadd(keys.taken, encode_member(start.id))
    assert oldest_due(begun.crawl, begun.context.now()) == pytest.approx(0, abs=5)
    queues.connection().sadd(keys.taken, *(encode_member(page.id) for page in rest))
    assert oldest_due(begun.crawl, begun.context.now()) is None


@pytest.mark.site(PAGES)
def test_a_row_that_does_not_say_since_when_is_as_old_as_the_round(begun: Bench) -> None:
    Page.objects.update(due_since=0)
    assert oldest_due(begun.crawl, begun.context.now()) == pytest.approx(3600, abs=5)


@pytest.mark.site(PAGES)
def test_all_that_comes_and_goes_is_counted_to_the_last_page(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conf, "max_attempts", lambda: 1)
    bench.start()
    bench.work()
    assert flow_of(bench) == [3, 3, 0, 1]
    assert retry_failed(bench.crawl.id) == 1
    assert flow_of(bench) == [4, 3, 1, 1]
    bench.work()
    assert flow_of(bench) == [4, 4, 1, 2]
    assert adds_up(receipt_of(bench.crawl))


@pytest.mark.site(PAGES)
def test_pages_that_a_cancellation_closes_go_out(begun: Bench) -> None:
    cancel(begun.crawl.id)
    assert flow_of(begun) == [1, 1, 0, 0]
    figures = queue_figures(begun.crawl, begun.context.now())
    assert plain(figures)["per_minute"] == {"last_minute": None, "last_five_minutes": None}
    assert (figures.oldest_due_seconds, line(figures)) == (None, "")


@pytest.mark.site(PAGES)
def test_rates_are_told_in_a_line(begun: Bench) -> None:
    now = begun.context.now()
    Crawl.objects.update(flow=[[now - 100, 0, 0, 0, 0], [now - 60, 1, 0, 0, 0], [now, 181, 60, 3, 0]])
    due_since(90, begun)
    begun.crawl.refresh_from_db()
    said = line(queue_figures(begun.crawl, now))
    assert said.startswith(
        "Pages a minute: 180 in, 60 out, 3.0 retried, 0 dead letters; the oldest page that is due waits"
    )


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads a table as small as this one as a whole")
@pytest.mark.site(PAGES)
def test_no_figure_reads_more_rows_than_its_index_leads_to(begun: Bench) -> None:
    with CaptureQueriesContext(connection) as seen:
        queue_figures(begun.crawl, begun.context.now())
    for query in seen.captured_queries:
        if '"crawler_page"' in query["sql"]:
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
                plan = " ".join(str(row) for row in cursor.fetchall())
            assert "page_due" in plan or "page_given_up" in plan
            assert "TEMP B-TREE" not in plan
