"""A receipt's seconds are those in which the crawl ran; beside them stands the time from its start to its end."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from crawler import clock as shared_clock
from crawler import conf
from crawler.crawls import control, holds
from crawler.crawls.control import cancel, hold, pause, resume
from crawler.crawls.retry import retry_failed
from crawler.models import Notice
from crawler.reports import text
from crawler.reports.receipt import receipt_of
from tests.bench import Bench, Died, die
from tests.site import Reply, page

PAGES = {"/": page("/a", "/b"), "/a": page(), "/b": page()}
pytestmark = pytest.mark.site(PAGES)
ONE_BROKEN = {"/": page("/a"), "/a": lambda before: Reply(page(), status=200 if before else 500)}


class Clock:
    """Stands still unless told to go on."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def go_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def epoch(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What those go by who begin, pause, end and judge a crawl."""
    clock = Clock()
    monkeypatch.setattr(shared_clock, "shared", SimpleNamespace(epoch_seconds=clock.epoch))
    return clock


def begun(bench: Bench, clock: Clock) -> Bench:
    bench.start()
    return bench


def times(bench: Bench) -> tuple[float, float]:
    """Seconds it ran, and from start to end."""
    bench.crawl.refresh_from_db()
    receipt = receipt_of(bench.crawl)
    return receipt["seconds"], receipt["elapsed_seconds"]


def test_a_crawl_that_was_never_paused_ran_from_its_start_to_its_end(bench: Bench, clock: Clock) -> None:
    begun(bench, clock)
    clock.go_on(7.5)
    bench.work()
    clock.go_on(1000)
    assert times(bench) == (7.5, 7.5)


def test_a_pause_is_not_counted(bench: Bench, clock: Clock) -> None:
    begun(bench, clock)
    clock.go_on(10)
    pause(bench.crawl.id)
    clock.go_on(3600)
    assert times(bench) == (10, 3610)  # it stands still meanwhile
    resume(bench.crawl.id)
    clock.go_on(5)
    bench.work()
    assert bench.state() == "finished"
    clock.go_on(1000)
    assert times(bench) == (15, 3615)


def test_several_pauses_add_up_and_none_is_counted_twice(bench: Bench, clock: Clock) -> None:
    begun(bench, clock)
    for _ in range(3):
        clock.go_on(10)
        assert (pause(bench.crawl.id), pause(bench.crawl.id)) == (True, False)
        clock.go_on(50)
        assert not pause(bench.crawl.id)
        clock.go_on(50)
        assert (resume(bench.crawl.id), resume(bench.crawl.id)) == (True, False)
    assert times(bench) == (30, 330)


def test_a_crawl_that_is_cancelled_in_a_pause_ran_until_the_pause(bench: Bench, clock: Clock) -> None:
    begun(bench, clock)
    clock.go_on(10)
    pause(bench.crawl.id)
    clock.go_on(90)
    cancel(bench.crawl.id)
    clock.go_on(1000)
    assert times(bench) == (10, 100)


@pytest.mark.parametrize(
    "let_go", [lambda bench, clock: holds.resume_due(clock.now), lambda bench, _: taken_over(bench)]
)
def test_a_hold_is_not_counted_however_it_ends(
    bench: Bench, clock: Clock, let_go: Callable[[Bench, Clock], object]
) -> None:
    """For want of room, or until the next day: a hold is a pause that ends by itself, unless a user pauses it."""
    begun(bench, clock)
    clock.go_on(10)
    assert hold(bench.crawl.id, clock.now + timedelta(seconds=60))
    clock.go_on(60)
    let_go(bench, clock)
    clock.go_on(5)
    bench.work()
    assert bench.state() == "finished"
    assert times(bench) == (15, 75)


def taken_over(bench: Bench) -> None:
    assert pause(bench.crawl.id)  # from now on it waits for a user
    assert resume(bench.crawl.id)


@pytest.mark.site(ONE_BROKEN)
def test_the_time_before_dead_letters_are_sent_again_is_not_counted(
    bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conf, "max_attempts", lambda: 1)
    begun(bench, clock)
    clock.go_on(10)
    bench.work()
    assert times(bench) == (10, 10)
    clock.go_on(86_400)
    assert retry_failed(bench.crawl.id) == 1
    assert times(bench) == (10, 86_410)
    clock.go_on(5)
    bench.work()
    assert bench.state() == "finished"
    assert times(bench) == (15, 86_415)
    told = [
        (notice.receipt["seconds"], notice.receipt["elapsed_seconds"]) for notice in Notice.objects.order_by("round")
    ]
    assert told == [(10, 10), (15, 86_415)]
    assert "\nTime         ran 15 s (over 24 h 0 min, with pauses)\n" in text.receipt_table(receipt_of(bench.crawl))


@pytest.mark.site(ONE_BROKEN)
def test_a_crawl_that_is_paused_in_its_second_round_counts_both_times(
    bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conf, "max_attempts", lambda: 1)
    begun(bench, clock)
    clock.go_on(10)
    bench.work()
    clock.go_on(100)
    retry_failed(bench.crawl.id)
    clock.go_on(1)
    pause(bench.crawl.id)
    clock.go_on(1000)
    resume(bench.crawl.id)
    clock.go_on(2)
    bench.work()
    assert times(bench) == (13, 1113)


def test_a_death_right_after_the_commit_changes_no_time(
    bench: Bench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(bench, clock)
    clock.go_on(10)
    for verb, after in ((pause, "_end_batches"), (resume, "wake")):
        with monkeypatch.context() as patch:
            patch.setattr(control, after, die)
            with pytest.raises(Died):
                verb(bench.crawl.id)
        clock.go_on(100)
        assert not verb(bench.crawl.id)
    assert times(bench) == (110, 210)
