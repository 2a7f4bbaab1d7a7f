"""Wake-ups are never lost: whoever leaves a result sends a tick, unless one is surely on its way."""

from redis.client import Pipeline

from crawler.frontier.frontier import Frontier
from crawler.frontier.results import FIRST_READ_REPORTS, MARK_FRESH_S, MAX_FIRST_READ_BYTES, Mark, ReleaseResult
from tests.frontier.conftest import GivenClock


class Ticks:
    """Stands where RQ's queue stands: what was sent within the transaction."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier

    def send(self, pipe: Pipeline) -> None:
        pipe.rpush("ticks", "tick")

    @property
    def sent(self) -> int:
        return self.frontier.redis.llen("ticks")


def leave(frontier: Frontier, *reports: bytes, coming: bool = False, is_urgent: bool = True) -> bool:
    return frontier.results.push(
        reports,
        frontier.now(),
        tick_job="job",
        is_coming=lambda mark: coming,
        send_tick=Ticks(frontier).send,
        is_urgent=is_urgent,
    )


def test_the_first_result_sends_a_tick(frontier: Frontier) -> None:
    assert leave(frontier, b"r1")
    assert Ticks(frontier).sent == 1
    assert frontier.results.mark() == Mark("job", frontier.now())


def test_what_is_not_urgent_waits_for_the_tick_of_the_next_result(frontier: Frontier) -> None:
    assert not leave(frontier, b"r1", is_urgent=False)
    assert frontier.results.mark() is None
    assert leave(frontier, b"r2")
    assert frontier.results.read(9) == [b"r1", b"r2"]


def test_no_second_tick_is_sent_while_one_is_fresh(frontier: Frontier) -> None:
    leave(frontier, b"r1")
    assert not leave(frontier, b"r2")
    assert Ticks(frontier).sent == 1
    assert frontier.results.read(9) == [b"r1", b"r2"]


def test_a_tick_that_waits_long_in_the_queue_is_still_on_its_way(frontier: Frontier, clock: GivenClock) -> None:
    leave(frontier, b"r1")
    clock.move(MARK_FRESH_S + 1)
    assert not leave(frontier, b"r2", coming=True)


def test_a_tick_that_was_lost_is_replaced(frontier: Frontier, clock: GivenClock) -> None:
    leave(frontier, b"r1")
    clock.move(MARK_FRESH_S + 1)
    assert leave(frontier, b"r2", coming=False)
    assert Ticks(frontier).sent == 2


def test_a_result_left_after_the_mark_was_cleared_sends_a_tick(frontier: Frontier) -> None:
    leave(frontier, b"r1")
    frontier.results.clear_mark()
    assert leave(frontier, b"r2")


def test_a_mark_cleared_between_look_and_step_is_noticed(frontier: Frontier, clock: GivenClock) -> None:
    leave(frontier, b"r1")
    clock.move(MARK_FRESH_S + 1)
    looks = 0

    def clears_the_mark_once(mark: Mark) -> bool:
        nonlocal looks
        looks += 1
        frontier.results.clear_mark()  # a tick begins just now
        return True

    sent = frontier.results.push(
        [b"r2"],
        frontier.now(),
        tick_job="job2",
        is_coming=clears_the_mark_once,
        send_tick=Ticks(frontier).send,
    )
    assert sent
    assert looks == 1
    assert frontier.results.read(9) == [b"r1", b"r2"]


def test_results_stay_until_they_are_acknowledged(frontier: Frontier) -> None:
    leave(frontier, b"r1", b"r2", b"r3")
    assert frontier.results.read(2) == [b"r1", b"r2"]
    assert frontier.results.read(2) == [b"r1", b"r2"]
    frontier.results.acknowledge([b"r1", b"r2"])
    assert frontier.results.read(2) == [b"r3"]


def test_acknowledging_twice_takes_nothing_that_was_not_read(frontier: Frontier) -> None:
    """Two ticks at once, the first one held up past its lock."""
    leave(frontier, b"r1", b"r2", b"r3")
    read = frontier.results.read(2)
    frontier.results.acknowledge(read)
    frontier.results.acknowledge(read)
    assert frontier.results.read(2) == [b"r3"]


def test_only_one_tick_works_at_a_time(frontier: Frontier) -> None:
    assert frontier.results.acquire_lock("t1")
    assert not frontier.results.acquire_lock("t2")
    assert frontier.results.acquire_lock("t1")


def test_the_lock_is_given_back_when_the_mark_is_clear(frontier: Frontier) -> None:
    frontier.results.acquire_lock("t1")
    assert frontier.results.release_lock_if_clean("t1") is ReleaseResult.YES
    assert frontier.results.acquire_lock("t2")


def test_the_lock_is_kept_while_the_mark_is_set(frontier: Frontier) -> None:
    frontier.results.acquire_lock("t1")
    leave(frontier, b"r1")
    assert frontier.results.release_lock_if_clean("t1") is ReleaseResult.DIRTY
    assert not frontier.results.acquire_lock("t2")


def test_a_tick_that_lost_its_lock_does_not_free_anothers(frontier: Frontier) -> None:
    frontier.results.acquire_lock("t2")
    assert frontier.results.release_lock_if_clean("t1") is ReleaseResult.LOST
    frontier.results.release_lock("t1")
    assert not frontier.results.acquire_lock("t3")


def test_of_large_reports_a_few_are_read_at_a_time(frontier: Frontier) -> None:
    large = [
        bytes([number]) * (MAX_FIRST_READ_BYTES // FIRST_READ_REPORTS + 1) for number in range(FIRST_READ_REPORTS + 5)
    ]
    leave(frontier, *large)
    assert frontier.results.read(256) == large[:FIRST_READ_REPORTS]
    assert frontier.results.read(3) == large[:3]
    frontier.results.acknowledge(large)
    small = [b"%d" % number for number in range(99)]
    leave(frontier, *small)
    assert frontier.results.read(50) == small[:50]
