"""A batch of a slot lane takes a slot of its workers for as long as it has a lease, whoever dies."""

import pytest
from redis import Redis

from crawler.core.protocol.lanes import SlotLane
from crawler.core.protocol.retries import lane_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import DequeuedSlice, QueueItem, SliceOrder
from crawler.frontier.slots import RESERVATION_S, WORKER_TTL_S, LaneSlots
from tests.frontier.conftest import GivenClock, dequeue

HOST = "example.com"


@pytest.fixture
def places(redis: Redis, slot_lane: SlotLane) -> LaneSlots:
    return LaneSlots(redis, slot_lane)


def hand_out(redis: Redis, places: LaneSlots, *leases: str) -> None:
    """As a manager does that had places for them."""
    for lease in leases:
        redis.hset(lease, "token", "t")
    places.confirm(leases)


def test_a_worker_is_there_while_it_says_so(places: LaneSlots, clock: GivenClock) -> None:
    places.register("a", 6, clock())
    places.register("b", 2, clock())
    clock.move(WORKER_TTL_S / 2)
    places.register("b", 3, clock())
    clock.move(WORKER_TTL_S / 2)
    assert places.workers(clock()) == {"b": 3}
    places.remove("b")
    assert places.workers(clock()) == {}


def test_no_more_places_are_taken_than_there_are(redis: Redis, places: LaneSlots, clock: GivenClock) -> None:
    assert places.take(["l:1", "l:2", "l:3"], 2, clock()) == 2
    hand_out(redis, places, "l:1", "l:2")
    clock.move(3600)
    assert places.take(["l:4"], 2, clock()) == 0
    assert places.take(["l:4"], 3, clock()) == 1


def test_the_places_of_a_process_are_those_of_the_batches_it_has(
    redis: Redis, places: LaneSlots, clock: GivenClock
) -> None:
    places.take(["l:1", "l:2", "l:3", "l:4"], 4, clock())
    hand_out(redis, places, "l:1", "l:2", "l:3", "l:4")
    for lease, holder in (("l:1", "here:1"), ("l:2", "here:1"), ("l:3", "there:1")):  # the fourth waits in the queue
        redis.hset(lease, "holder", holder)
    redis.delete("l:2")  # it is complete
    assert places.taken_by_holder() == {"here:1": 1, "there:1": 1}


def test_a_place_is_free_as_soon_as_the_batch_is_complete(redis: Redis, places: LaneSlots, clock: GivenClock) -> None:
    places.take(["l:1"], 1, clock())
    hand_out(redis, places, "l:1")
    assert places.taken() == 1
    redis.delete("l:1")
    assert places.taken() == 0
    assert places.take(["l:2"], 1, clock()) == 1


def test_a_place_that_was_given_back_is_free(places: LaneSlots, clock: GivenClock) -> None:
    places.take(["l:1"], 1, clock())
    places.give_back(["l:1"])
    assert places.take(["l:2"], 1, clock()) == 1


def test_a_place_of_a_manager_that_died_before_it_handed_out_its_batch_is_free_after_a_while(
    places: LaneSlots, clock: GivenClock
) -> None:
    places.take(["l:1"], 1, clock())
    clock.move(RESERVATION_S - 1)
    assert places.take(["l:2"], 1, clock()) == 0
    clock.move(2)
    assert places.take(["l:2"], 1, clock()) == 1


def dequeue_for(lane: SlotLane, frontier: Frontier, batch: str) -> DequeuedSlice | None:
    order = SliceOrder(batch, "t", 0, (batch, "t"), lane.suffix)
    found = frontier.ready_queue.dequeue([order], frontier.now())
    return found[0] if found else None


def test_pages_for_a_slot_are_dequeued_apart_from_others(frontier: Frontier, slot_lane: SlotLane) -> None:
    for_slot = lane_of(HOST, is_suspect=False, deaths=0, suffix=slot_lane.suffix)
    frontier.ready_queue.enqueue([QueueItem(1, HOST, 0.0), QueueItem(2, for_slot, 0.0)])
    assert dequeue(frontier, "b1", "t", 0) == DequeuedSlice("b1", HOST, [1])
    assert dequeue(frontier, "b2", "t", 0) is None
    assert dequeue_for(slot_lane, frontier, "b3") == DequeuedSlice("b3", for_slot, [2])
    assert (frontier.ready_queue.size(), frontier.ready_queue.handed_out()) == (0, 2)


def test_a_slice_for_a_slot_has_few_pages(frontier: Frontier, slot_lane: SlotLane) -> None:
    for_slot = lane_of(HOST, is_suspect=False, deaths=0, suffix=slot_lane.suffix)
    frontier.ready_queue.enqueue(QueueItem(page, for_slot, 0.0) for page in range(1, 30))
    found = dequeue_for(slot_lane, frontier, "b")
    assert found is not None
    assert found.pages == [1, 2, 3, 4]
    assert frontier.ready_queue.sizes() == {"": 0, slot_lane.suffix: 25}


def test_suspects_for_a_slot_are_alone(frontier: Frontier, slot_lane: SlotLane) -> None:
    lane = lane_of(HOST, is_suspect=True, deaths=1, suffix=slot_lane.suffix)
    frontier.ready_queue.enqueue([QueueItem(1, lane, 0.0), QueueItem(2, lane, 0.0)])
    assert dequeue_for(slot_lane, frontier, "b") == DequeuedSlice("b", lane, [1])


def test_a_frontier_with_pages_for_a_slot_is_not_empty_until_it_is_cleared(
    frontier: Frontier, slot_lane: SlotLane
) -> None:
    frontier.ready_queue.enqueue(
        [QueueItem(1, lane_of(HOST, is_suspect=False, deaths=0, suffix=slot_lane.suffix), 0.0)]
    )
    assert not frontier.queue_side().is_empty
    frontier.ready_queue.clear()
    assert frontier.queue_side().is_empty
    assert not frontier.redis.keys(f"*:{slot_lane.suffix}")
