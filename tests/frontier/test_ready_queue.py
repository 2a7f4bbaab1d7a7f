"""The window hands out each page once, by due time and then by urgency, a few slices of a host at a time."""

from crawler.core.politeness.host_rules import Pace
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import DequeuedSlice, Level, QueueCounts, QueueItem, SliceOrder
from crawler.frontier.seen_set import SeenSet
from tests.frontier.conftest import GivenClock, dequeue

HOST, OTHER = "example.com", "other.example"
USUAL = Level(priority=5)


def put(frontier: Frontier, *ids: int, host: str = HOST, due: float = 0.0, priority: int = 5) -> None:
    frontier.ready_queue.enqueue(QueueItem(page, host, due, priority) for page in ids)


def pick(frontier: Frontier, *, batch: str = "b1", number: int = 0) -> list[int]:
    picked = dequeue(frontier, batch, f"token-{batch}", number)
    return picked.pages if picked else []


def counted(frontier: Frontier) -> QueueCounts:
    return frontier.ready_queue.counts(frontier.now())


def test_pages_come_out_in_the_order_of_their_due_times(frontier: Frontier) -> None:
    put(frontier, 7, due=30)
    put(frontier, 8, due=10)
    put(frontier, 9, due=20)
    assert pick(frontier) == [8, 9, 7]


def test_of_pages_due_at_the_same_time_the_most_urgent_come_first(frontier: Frontier) -> None:
    put(frontier, 1, priority=0)
    put(frontier, 2, priority=5)
    put(frontier, 4, 3, priority=10)
    assert pick(frontier) == [3, 4, 2, 1]


def test_a_due_time_counts_before_urgency(frontier: Frontier) -> None:
    put(frontier, 1, due=20, priority=10)
    put(frontier, 2, due=10, priority=0)
    assert pick(frontier) == [2, 1]


def test_pages_due_at_the_same_time_come_out_in_the_order_of_their_ids(frontier: Frontier) -> None:
    put(frontier, 100, 9, 20)
    assert pick(frontier) == [9, 20, 100]


def test_a_page_is_handed_out_once(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=2, pages=2)})
    put(frontier, 1, 2, 3)
    assert pick(frontier) == [1, 2]
    assert pick(frontier, batch="b2") == [3]


def test_a_page_that_is_handed_out_cannot_be_put_in_again(frontier: Frontier) -> None:
    put(frontier, 1)
    pick(frontier)
    put(frontier, 1)
    assert counted(frontier).waiting == 0


def test_a_page_that_waits_gets_the_due_time_it_is_put_in_with_again(frontier: Frontier, clock: GivenClock) -> None:
    put(frontier, 1, due=0)
    put(frontier, 1, due=clock.time + 60)
    assert pick(frontier) == []
    assert counted(frontier) == QueueCounts(waiting=1, due=0)
    put(frontier, 1, due=clock.time)
    assert pick(frontier) == [1]


def test_a_page_that_is_not_due_stays(frontier: Frontier, clock: GivenClock) -> None:
    put(frontier, 1, due=clock.time + 5)
    assert pick(frontier) == []
    clock.move(5)
    assert pick(frontier) == [1]


def test_a_host_gives_no_more_slices_than_may_be_out_at_once(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=2, pages=1)})
    put(frontier, 1, 2, 3)
    assert pick(frontier, number=0) == [1]
    assert pick(frontier, number=1) == [2]
    assert pick(frontier, number=2) == []


def test_another_host_is_not_held_up(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=1, pages=1)})
    put(frontier, 1, 2, 3)
    put(frontier, 4, host=OTHER)
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", OTHER, [4])
    assert dequeue(frontier, "b1", "t", 1) == DequeuedSlice("b1", HOST, [1])


def test_the_host_with_the_most_slices_left_comes_first(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=1, pages=2), OTHER: Pace(slices=1, pages=1)})
    put(frontier, 1, 2, 3, due=10)
    put(frontier, 4, 5, host=OTHER, due=20)
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", OTHER, [4])


def test_a_host_that_was_never_asked_comes_before_the_largest(frontier: Frontier) -> None:
    """It may turn out to be larger still."""
    frontier.ready_queue.set_paces({HOST: Pace(slices=1, pages=1)})
    put(frontier, *range(1, 50))
    put(frontier, 99, host=OTHER)
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", OTHER, [99])


def test_a_host_with_less_than_a_slice_gives_a_short_one(frontier: Frontier) -> None:
    """So that no worker is taken up for long while larger ones are still being found."""
    frontier.ready_queue.set_paces({HOST: Pace(slices=1, pages=90)})
    put(frontier, *range(1, 91))
    assert pick(frontier) == list(range(1, 25))


def test_the_few_pages_of_a_slow_host_are_dealt_over_its_connections(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=4, pages=50, short=1)})
    put(frontier, *range(1, 4))
    assert [pick(frontier, number=number) for number in range(4)] == [[1], [2], [3], []]


def test_while_many_hosts_wait_the_few_pages_of_a_slow_one_stay_together(frontier: Frontier) -> None:
    """They keep the connections busy, and a slice costs more than a page: in a crawl of 10,000 hosts, five times more
    pages a second."""
    frontier.ready_queue.set_paces({HOST: Pace(slices=4, pages=50, short=1)})
    put(frontier, 1, 2, 3, due=10)
    others = {f"host{number}.example": number for number in range(10, 266)}
    frontier.ready_queue.set_paces(dict.fromkeys(others, Pace(slices=4, pages=50, short=1)))
    frontier.ready_queue.enqueue(QueueItem(page, host, 20.0) for host, page in others.items())
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", HOST, [1, 2, 3])


def test_many_pages_of_a_slow_host_are_dealt_in_equal_shares(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=4, pages=50, short=1)})
    put(frontier, *range(1, 41))
    assert pick(frontier) == list(range(1, 11))


def test_a_share_has_as_many_connections_as_come_to_a_host(frontier: Frontier) -> None:
    """Smaller ones would cost a millisecond each and gain nothing."""
    frontier.ready_queue.set_paces({HOST: Pace(slices=16, pages=50, short=1)})
    put(frontier, *range(1, 31))
    for number in range(40, 49):
        put(frontier, number, host=f"host{number}.example", due=frontier.now() + 9)
    orders = [SliceOrder("b1", "t", number) for number in range(2)]
    first, second = frontier.ready_queue.dequeue(orders, frontier.now(), connections=30)
    assert (first.pages, second.pages) == ([*range(1, 11)], [*range(11, 18)])


def test_a_pace_without_short_slices_is_that_of_an_earlier_version(frontier: Frontier) -> None:
    frontier.redis.hset(frontier.keys.pace, HOST, "1 90")
    put(frontier, *range(1, 91))
    assert pick(frontier) == list(range(1, 25))


def test_beyond_the_heaviest_the_host_that_has_waited_longest_comes_first(frontier: Frontier) -> None:
    hosts = {f"host{number}.example": number for number in range(1, 60)}
    frontier.ready_queue.set_paces(dict.fromkeys(hosts, Pace(slices=1, pages=1)))
    for host, number in hosts.items():
        due = frontier.now() + 9 if number > 20 else 100.0 - number
        frontier.ready_queue.enqueue([QueueItem(100 * number + page, host, due) for page in range(number)])
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", "host20.example", [2000])


def test_suspects_go_alone_and_in_their_company(frontier: Frontier) -> None:
    put(frontier, 1, 2, host=f"{HOST}|1")
    picked = dequeue(frontier, "b1", "t", 3, alone=("b2", "t2"))
    assert picked == DequeuedSlice("b2", f"{HOST}|1", [1])
    lease = frontier.leases.get("b2")
    assert lease is not None
    assert lease.slices == {0: (f"{HOST}|1", (1,))}
    assert frontier.leases.get("b1") is None


def test_one_round_trip_serves_many_batches(frontier: Frontier) -> None:
    put(frontier, 1, host=f"{HOST}|1")
    put(frontier, 2, host=OTHER)
    orders = [SliceOrder(f"b{number}", "t", number, alone=(f"a{number}", "t")) for number in (1, 2, 3)]
    found = frontier.ready_queue.dequeue(orders, frontier.now())
    assert sorted((slice_.lane, slice_.pages) for slice_ in found) == [(f"{HOST}|1", [1]), (OTHER, [2])]
    assert [slice_.batch[0] for slice_ in sorted(found, key=lambda slice_: slice_.lane)] == ["a", "b"]
    for slice_ in found:
        lease = frontier.leases.get(slice_.batch)
        assert lease is not None
        assert [pages for _, pages in lease.slices.values()] == [tuple(slice_.pages)]
    assert frontier.leases.outstanding() == 2


def test_suspects_wait_for_a_batch_without_holding_up_other_pages(frontier: Frontier) -> None:
    put(frontier, 1, host=f"{HOST}|16", due=10)
    put(frontier, 2, host=OTHER, due=20)
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", OTHER, [2])
    assert dequeue(frontier, "b1", "t", 1) is None


def test_the_pages_that_wait_are_kept_count_of(frontier: Frontier) -> None:
    assert frontier.ready_queue.size() == 0
    put(frontier, 1, 2, 3)
    put(frontier, 3, 4, host=OTHER)
    put(frontier, 1, due=5)  # waits already
    assert frontier.ready_queue.size() == 5
    handed_out = len(pick(frontier))
    assert frontier.ready_queue.size() == counted(frontier).waiting == 5 - handed_out


def test_pages_that_come_back_wait_again(frontier: Frontier) -> None:
    put(frontier, 1, 2)
    assert frontier.ready_queue.size() == 2
    pick(frontier)
    assert frontier.ready_queue.size() == 0
    frontier.leases.complete_slice("b1", "token-b1", 0, HOST, [QueueItem(2, HOST, due=0.0)], 0)
    assert frontier.ready_queue.size() == 1


def test_a_lost_counter_is_recounted(frontier: Frontier) -> None:
    put(frontier, 1, 2)
    assert frontier.ready_queue.size() == 2
    frontier.redis.delete(frontier.keys.of_suffix().waiting)
    put(frontier, 3)
    assert frontier.ready_queue.size() == 3


def test_waiting_due_and_handed_out_pages_are_counted(frontier: Frontier, clock: GivenClock) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=2, pages=1)})
    put(frontier, 1, 2)
    put(frontier, 3, due=clock.time + 9)
    put(frontier, 4, host=OTHER, due=1)
    pick(frontier)
    assert (counted(frontier), frontier.ready_queue.handed_out()) == (QueueCounts(waiting=3, due=2), 1)


def test_the_cursor_of_each_level_is_remembered(frontier: Frontier) -> None:
    assert not frontier.ready_queue.has_cursor()
    frontier.ready_queue.move_cursor(USUAL, 41)
    frontier.ready_queue.move_cursor(Level(priority=9, depth=2), 7)
    assert (
        frontier.ready_queue.cursor(USUAL),
        frontier.ready_queue.cursor(Level(9, 2)),
        frontier.ready_queue.cursor(Level(9)),
    ) == (
        41,
        7,
        0,
    )
    assert frontier.ready_queue.has_cursor()


def test_after_a_rewind_every_level_restarts(frontier: Frontier) -> None:
    frontier.ready_queue.move_cursor(USUAL, 41)
    frontier.ready_queue.rewind()
    assert (frontier.ready_queue.cursor(USUAL), frontier.ready_queue.has_cursor()) == (0, False)


def test_forgetting_leaves_nothing_but_results_and_seen(frontier: Frontier) -> None:
    frontier.ready_queue.set_paces({HOST: Pace(slices=1, pages=1)})
    put(frontier, 1, 2)
    put(frontier, 3, host=OTHER)
    pick(frontier)
    frontier.ready_queue.move_cursor(USUAL, 3)
    frontier.seen.add([KEY])
    frontier.ready_queue.clear()
    assert len(frontier.redis.keys("*")) == 1
    assert SeenSet(frontier.redis, frontier.keys.seen).missing([KEY]) == []


def test_clearing_leaves_nothing_at_all(frontier: Frontier) -> None:
    put(frontier, 1, 2)
    pick(frontier)
    frontier.seen.add([KEY])
    frontier.redis.rpush(frontier.keys.results, b"r")
    frontier.clear()
    assert frontier.redis.keys("*") == []


KEY = bytes(range(16))
