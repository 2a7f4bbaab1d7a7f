"""Pages are added to a crawl, moved in its queue and asked for again; a crawl that was over finishes again properly."""

import pytest
from redis.exceptions import RedisError

from crawler import clock
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import BadInput
from crawler.core.pages.page_query import PagesQuery
from crawler.core.pages.placement import Added, Placement, placed
from crawler.core.protocol.completion import State
from crawler.core.protocol.counters import adds_up
from crawler.crawls import control, reconcile
from crawler.crawls.control import cancel, pause, resume
from crawler.manager import add as adding
from crawler.manager.add import add, ask_again
from crawler.manager.host_waits import end_host_waits
from crawler.manager.tick import manage
from crawler.models import Crawl, Disagreement, Notice, Page
from crawler.reports.page_table import chosen
from crawler.reports.receipt import receipt_of
from crawler.storage import queries
from tests.bench import Bench
from tests.site import Reply, page

PAGES = {
    "/": page("/a"),
    "/a": page(),
    "/new": page("/behind"),
    "/behind": page(),
    "/late": page(),
    "/gone": Reply(status=404),
}
pytestmark = pytest.mark.site(PAGES)
NOW = Placement()


def added(bench: Bench, *paths: str, place: Placement = NOW, again: bool = False) -> Added:
    done = add(bench.crawl.id, [f"{bench.site.url}{path}" for path in paths], place, by=OPERATOR, again=again)
    assert done is not None
    return done


def after(seconds: float) -> Placement:
    return Placement(not_before=clock.epoch_seconds() + seconds)


def row(bench: Bench, path: str) -> Page:
    return Page.objects.get(crawl=bench.crawl, url=f"{bench.site.url}{path}")


def ids_of(bench: Bench, query: PagesQuery) -> list[int]:
    return list(chosen(bench.crawl, query).values_list("id", flat=True))


def work_now(bench: Bench) -> None:
    """What can be done now: without the idle poller, which would wait for what is due later."""
    while any("watch" not in job for queue in ("crawl", "fetch") for job in bench.jobs(queue)):
        bench.work(at_most=1)


def finish(bench: Bench) -> None:
    """The crawl's work is done, and what it says is right."""
    bench.work()
    assert bench.state() == "finished"
    assert adds_up(receipt_of(bench.crawl))
    assert bench.crawl.tallies == queries.count_rows(bench.crawl.id)
    assert not Disagreement.objects.exists()


def test_a_page_that_is_added_to_a_running_crawl_is_requested_with_what_it_links_to(bench: Bench) -> None:
    bench.start()
    bench.work("crawl")
    assert added(bench, "/new").added == 1
    finish(bench)
    assert (bench.site.hits["/new"], bench.site.hits["/behind"]) == (1, 1)
    assert Notice.objects.count() == 1


@pytest.mark.parametrize("end", [lambda bench: bench.work(), lambda bench: cancel(bench.crawl.id)])
def test_a_crawl_that_was_over_runs_in_its_next_round(bench: Bench, end: object) -> None:
    bench.start()
    end(bench)  # type: ignore[operator]
    assert added(bench, "/new") == Added(added=1, has_reopened=True)
    assert bench.state() == "running"
    finish(bench)
    assert bench.crawl.round == 2
    assert bench.site.hits["/behind"] == 1


def test_known_pages_are_told_apart_and_nothing_happens_to_them(bench: Bench) -> None:
    bench.run()
    assert added(bench, "/", "/a", "/a#part") == Added(closed=2)
    assert (bench.state(), bench.site.hits["/a"]) == ("finished", 1)


def test_a_closed_page_is_opened_again_only_on_demand(bench: Bench) -> None:
    bench.run()
    assert added(bench, "/a", again=True) == Added(again=1, has_reopened=True)
    assert (row(bench, "/a").status, row(bench, "/a").title) == (Page.OPEN, "")
    finish(bench)
    assert (bench.site.hits["/"], bench.site.hits["/a"]) == (1, 2)
    assert receipt_of(bench.crawl)["statuses"] == {"200": 2}


def test_each_url_that_cannot_be_added_is_told_with_the_reason(bench: Bench) -> None:
    bench.start(exclude=("/secret",))
    done = added(bench, "/new", "/secret")
    other = add(bench.crawl.id, ["https://example.net/", "mailto:me@example.com"], NOW, by=OPERATOR)
    assert (done.added, done.refused) == (1, 1)
    assert [told.why for told in done.reasons] == ["An exclude pattern matches it."]
    assert other is not None
    assert (other.added, other.refused) == (0, 2)
    assert other.reasons[0].why == "It is outside the crawl's scope."


def test_a_host_that_the_guard_refuses_is_not_added(bench: Bench) -> None:
    bench.start(hosts=("10.0.0.1",))
    Crawl.objects.update(options={**bench.crawl.options, "private_hosts": []})
    done = add(bench.crawl.id, ["http://10.0.0.1/"], NOW, by=OPERATOR)
    assert done is not None
    assert (done.added, done.refused) == (0, 1)
    assert "private address" in done.reasons[0].why


def test_more_than_ten_thousand_urls_are_refused_as_a_whole(bench: Bench) -> None:
    bench.start()
    with pytest.raises(BadInput, match="at most 10,000 URLs"):
        added(bench, *(f"/{number}" for number in range(10_001)))


def test_a_page_with_a_delay_is_not_requested_before(bench: Bench) -> None:
    bench.start()
    added(bench, "/late", place=after(3600))
    work_now(bench)
    assert (bench.state(), bench.site.hits["/late"], bench.site.hits["/a"]) == ("running", 0, 1)
    assert added(bench, "/late", place=after(0)).moved == 1
    finish(bench)
    assert bench.site.hits["/late"] == 1


def test_added_again_with_a_later_time_a_waiting_page_waits_for_that(bench: Bench) -> None:
    bench.start()
    bench.work("crawl")
    added(bench, "/late")
    manage(bench.crawl.id)
    assert added(bench, "/late", place=after(3600)).moved == 1
    work_now(bench)
    assert (bench.state(), bench.site.hits["/late"]) == ("running", 0)


def test_without_time_or_priority_an_open_page_stays_where_it_is(bench: Bench) -> None:
    bench.start()
    added(bench, "/late", place=after(3600))
    assert added(bench, "/late") == Added(waiting=1)
    work_now(bench)
    assert bench.site.hits["/late"] == 0


def test_the_time_a_user_chose_outlasts_the_end_of_a_wait_for_the_host(bench: Bench) -> None:
    bench.start()
    added(bench, "/late", place=after(3600))
    work_now(bench)
    end_host_waits(bench.site.host)
    work_now(bench)
    assert (bench.state(), bench.site.hits["/late"]) == ("running", 0)
    added(bench, "/late", place=after(0))
    finish(bench)


def test_the_ready_queue_is_built_again_with_the_times_that_users_chose(bench: Bench) -> None:
    bench.start()
    added(bench, "/late", place=after(3600))
    work_now(bench)
    bench.context.frontier.ready_queue.clear()
    manage(bench.crawl.id)
    work_now(bench)
    assert bench.site.hits["/late"] == 0


def test_a_page_of_another_priority_is_in_the_ready_queue_once(bench: Bench) -> None:
    bench.start()
    added(bench, "/late", "/new", place=after(3600))
    work_now(bench)
    assert added(bench, "/late", place=Placement(priority=9)).moved == 1
    manage(bench.crawl.id)
    queue = bench.context.frontier.ready_queue
    assert (queue.size(), queue.handed_out()) == (2, 0)
    added(bench, "/late", "/new", place=after(0))
    finish(bench)
    asked = [path for path in bench.site.hits if path in ("/late", "/new")]
    assert asked == ["/late", "/new"]


def test_a_page_that_is_handed_out_keeps_its_priority(bench: Bench) -> None:
    bench.start()
    bench.work("crawl")
    assert bench.context.frontier.ready_queue.handed_out() == 1
    added(bench, "/", place=Placement(priority=9))
    assert row(bench, "/").priority == 5
    finish(bench)


def test_a_page_whose_time_to_live_is_over_is_not_requested(bench: Bench) -> None:
    bench.start()
    bench.work("crawl")
    pause(bench.crawl.id)
    added(bench, "/late", place=Placement(ttl=0.01))
    resume(bench.crawl.id)
    bench.work()
    while bench.state() == "running":
        reconcile.reconcile(at_once=True)
        bench.work()
    assert (row(bench, "/late").outcome, bench.site.hits["/late"]) == ("expired", 0)
    assert bench.crawl.limits == {"page_ttl": 1}
    assert added(bench, "/late", again=True).again == 1
    finish(bench)
    assert (bench.crawl.limits, bench.site.hits["/late"]) == ({}, 1)


def test_the_page_limit_holds_for_pages_that_are_added(bench: Bench) -> None:
    bench.run(max_pages=2)
    assert added(bench, "/new").added == 1
    finish(bench)
    assert (row(bench, "/new").outcome, bench.site.hits["/new"]) == ("limit", 0)
    assert added(bench, "/new", "/a", again=True).again == 2
    finish(bench)
    assert bench.crawl.limits == {"pages": 1}


def test_a_page_that_waits_for_its_time_does_not_hold_up_deeper_levels(bench: Bench) -> None:
    bench.start(max_depth=3)
    added(bench, "/late", place=after(3600))
    added(bench, "/new")
    work_now(bench)
    assert (bench.site.hits["/behind"], bench.site.hits["/late"]) == (1, 0)
    added(bench, "/late", place=after(0))
    finish(bench)


def test_to_a_paused_crawl_pages_are_added_and_wait(bench: Bench) -> None:
    bench.start()
    pause(bench.crawl.id)
    assert added(bench, "/new").added == 1
    bench.work()
    assert bench.state() == "paused"
    resume(bench.crawl.id)
    finish(bench)


def test_pages_that_redis_is_not_told_of_are_left_to_reconcile(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise RedisError("gone")

    bench.run()
    with monkeypatch.context() as patch:
        patch.setattr(control, "wake", refuse)
        assert added(bench, "/new").added == 1
    assert reconcile.scan().woken == 1
    finish(bench)


def test_while_its_list_is_read_a_crawl_takes_nothing(bench: Bench) -> None:
    bench.start()
    Crawl.objects.update(state=State.LOADING)
    with pytest.raises(BadInput, match="list is still being read"):
        added(bench, "/new")


def test_one_page_is_asked_for_again(bench: Bench) -> None:
    bench.run()
    asked = ask_again(bench.crawl.id, [row(bench, "/a").id, 10**9])
    assert asked is not None
    assert (asked.again, asked.left, asked.has_reopened) == (1, 1, True)
    finish(bench)
    assert (bench.site.hits["/"], bench.site.hits["/a"]) == (1, 2)


@pytest.mark.site({**PAGES, "/": page("/a", "/gone")})
def test_what_a_filter_selects_is_asked_for_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "PAGES_PER_TRANSACTION", 1)
    bench.run()
    asked = ask_again(bench.crawl.id, ids_of(bench, PagesQuery(status="4xx")))
    assert asked is not None
    assert asked.again == 1
    finish(bench)
    assert bench.site.hits["/gone"] == 2
    everything = ask_again(bench.crawl.id, ids_of(bench, PagesQuery()))
    assert everything is not None
    assert everything.again == 3
    finish(bench)
    assert bench.crawl.round == 3


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"priority": 11}, "priority"),
        ({"delay": -1.0}, "delay"),
        ({"delay": 1.0, "not_before": 5.0}, "not_before"),
        ({"not_before": 1e12}, "not_before"),
        ({"ttl": 0.0}, "ttl"),
    ],
)
def test_a_place_that_cannot_be_used_is_told(given: dict[str, float], field: str) -> None:
    values = {"priority": None, "delay": None, "not_before": None, "ttl": None, **given}
    with pytest.raises(BadInput) as told:
        placed(**values, now=0.0)  # type: ignore[arg-type]
    assert told.value.field == field
