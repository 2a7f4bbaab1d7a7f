"""A crawl that is kept open waits for more pages, at next to no cost, and finishes once when it is told to."""

import pytest

from crawler.core.access.reach import OPERATOR
from crawler.core.pages.placement import Placement
from crawler.crawls import reconcile
from crawler.crawls.control import finish, pause, resume
from crawler.manager.add import add
from crawler.models import Disagreement, Notice
from crawler.queueing import queues
from crawler.reports.diagnosis import waits_because
from tests.bench import Bench
from tests.manager.test_add import work_now
from tests.site import page

PAGES = {"/": page("/a"), "/a": page(), "/new": page()}
pytestmark = pytest.mark.site(PAGES)

WAITS = "It waits for more pages, until a user finishes it."


@pytest.fixture
def waiting(bench: Bench) -> Bench:
    bench.start(stay_open=True)
    work_now(bench)
    assert bench.state() == "running"
    return bench


def test_with_no_page_open_it_says_that_it_waits(waiting: Bench) -> None:
    assert waits_because(waiting.crawl) == WAITS
    assert not Notice.objects.exists()


def test_while_it_waits_no_tick_is_sent(waiting: Bench) -> None:
    waiting.context.frontier.results.clear_mark()
    assert [reconcile.scan().woken for _ in range(3)] == [0, 0, 0]
    assert waiting.jobs("crawl") == []


def test_if_redis_loses_everything_one_tick_is_sent_and_it_waits_again(waiting: Bench) -> None:
    queues.connection().flushall()
    assert reconcile.scan().woken == 1
    work_now(waiting)
    waiting.context.frontier.results.clear_mark()
    assert reconcile.scan().woken == 0
    assert waiting.state() == "running"


def test_what_is_added_is_requested_and_then_it_waits_again(waiting: Bench) -> None:
    add(waiting.crawl.id, [f"{waiting.site.url}/new"], Placement(), by=OPERATOR)
    work_now(waiting)
    assert (waiting.state(), waiting.site.hits["/new"]) == ("running", 1)


def test_it_finishes_once_when_it_is_told_to(waiting: Bench) -> None:
    assert [finish(waiting.crawl.id), finish(waiting.crawl.id)] == [True, False]
    waiting.work()
    assert waiting.state() == "finished"
    assert [notice.event for notice in Notice.objects.all()] == ["crawl.finished"]
    assert not Disagreement.objects.exists()


def test_told_to_finish_while_pages_are_open_it_fetches_them_first(bench: Bench) -> None:
    bench.start(stay_open=True)
    assert finish(bench.crawl.id)
    bench.work()
    assert (bench.state(), bench.site.hits["/a"]) == ("finished", 1)


def test_told_to_finish_while_it_is_paused_it_finishes_once_it_is_resumed(waiting: Bench) -> None:
    pause(waiting.crawl.id)
    assert finish(waiting.crawl.id)
    waiting.work()
    assert waiting.state() == "paused"
    resume(waiting.crawl.id)
    waiting.work()
    assert waiting.state() == "finished"


def test_a_crawl_that_is_not_kept_open_need_not_be_told(bench: Bench) -> None:
    bench.start()
    assert not finish(bench.crawl.id)
    bench.work()
    assert not finish(bench.crawl.id)
