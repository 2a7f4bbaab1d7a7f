"""The window hands out each page once, in the order of due times, a few slices of a host at a time."""

from __future__ import annotations

from crawler.frontier.frontier import Frontier
from crawler.frontier.window import Cursor, Waiting
from tests.frontier.conftest import GivenClock

HOST = "example.com"


def put(frontier: Frontier, *ids: int, host: str = HOST, due: float = 0.0) -> None:
    frontier.window.put(Waiting(page, host, due) for page in ids)


def take(frontier: Frontier, pages: int = 10, *, host: str = HOST, batch: str = "b1", number: int = 0) -> list[int]:
    return frontier.window.take(host, pages, batch, f"token-{batch}", number, frontier.now())


def test_pages_come_out_in_the_order_of_their_due_times(frontier: Frontier) -> None:
    put(frontier, 7, due=30)
    put(frontier, 8, due=10)
    put(frontier, 9, due=20)
    assert take(frontier) == [8, 9, 7]


def test_pages_due_at_the_same_time_come_out_in_the_order_of_their_ids(frontier: Frontier) -> None:
    put(frontier, 100, 9, 20)
    assert take(frontier) == [9, 20, 100]


def test_a_page_is_handed_out_once(frontier: Frontier) -> None:
    put(frontier, 1, 2, 3)
    assert take(frontier, 2) == [1, 2]
    assert take(frontier, 2, batch="b2") == [3]


def test_a_page_that_is_handed_out_cannot_be_put_in_again(frontier: Frontier) -> None:
    put(frontier, 1)
    take(frontier)
    put(frontier, 1)
    assert frontier.window.size() == 0


def test_a_page_that_waits_keeps_its_due_time_when_put_in_again(frontier: Frontier, clock: GivenClock) -> None:
    put(frontier, 1, due=clock.time + 60)
    put(frontier, 1, due=0)
    assert take(frontier) == []


def test_a_page_that_is_not_due_stays(frontier: Frontier, clock: GivenClock) -> None:
    put(frontier, 1, due=clock.time + 5)
    assert frontier.window.due_hosts(clock.time, 10) == []
    clock.move(5)
    assert frontier.window.due_hosts(clock.time, 10) == [HOST]
    assert take(frontier) == [1]


def test_a_host_gives_no_more_slices_than_may_be_out_at_once(frontier: Frontier) -> None:
    put(frontier, 1, 2, 3)
    assert take(frontier, 1, number=0) == [1]
    assert take(frontier, 1, number=1) == [2]
    assert take(frontier, 1, number=2) == []
    assert frontier.window.due_hosts(frontier.now(), 10) == []


def test_another_host_is_not_held_up(frontier: Frontier) -> None:
    put(frontier, 1, 2, 3)
    put(frontier, 4, host="other.example")
    take(frontier, 1, number=0)
    take(frontier, 1, number=1)
    assert frontier.window.due_hosts(frontier.now(), 10) == ["other.example"]


def test_size_counts_waiting_pages_and_taken_counts_those_handed_out(frontier: Frontier) -> None:
    put(frontier, 1, 2, 3)
    put(frontier, 4, host="other.example")
    take(frontier, 1)
    assert (frontier.window.size(), frontier.window.taken()) == (3, 1)


def test_the_cursor_is_remembered(frontier: Frontier) -> None:
    assert frontier.window.cursor() is None
    frontier.window.move_cursor(Cursor(depth=-1, id=41))
    assert frontier.window.cursor() == Cursor(depth=-1, id=41)


def test_forgetting_leaves_nothing_but_results_and_seen(frontier: Frontier) -> None:
    put(frontier, 1, 2)
    put(frontier, 3, host="other.example")
    take(frontier, 1)
    frontier.window.move_cursor(Cursor(-1, 3))
    frontier.seen.add([b"k"])
    frontier.window.forget()
    assert frontier.redis.keys("*") == [frontier.keys.seen.encode()]


def test_clearing_leaves_nothing_at_all(frontier: Frontier) -> None:
    put(frontier, 1, 2)
    take(frontier, 1)
    frontier.seen.add([b"k"])
    frontier.redis.rpush(frontier.keys.results, b"r")
    frontier.clear()
    assert frontier.redis.keys("*") == []
