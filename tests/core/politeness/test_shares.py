import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.politeness.shares import MOST_WEIGHT, SlotLoad, batches_ahead, batches_of_least_busy


@pytest.mark.parametrize(
    ("weights", "ahead"),
    [
        ([5], [6]),  # alone
        ([1], [6]),
        ([5, 5], [6, 6]),  # as alone
        ([1, 3], [3, 9]),
        ([2, 6], [3, 9]),  # only the ratio counts
        ([5, 10], [4, 8]),
        ([1, 1, 10], [2, 2, 15]),
        ([1] * 9 + [10], [3] * 9 + [32]),
        ([1, 10], [1, 11]),
    ],
)
def test_crawls_share_the_queue_by_weight(weights: list[int], ahead: list[int]) -> None:
    assert [batches_ahead(6, weight, weights) for weight in weights] == ahead


@given(st.integers(3, 100), st.lists(st.integers(1, MOST_WEIGHT), min_size=1, max_size=20))
def test_no_crawl_starves_and_the_queue_stays_as_long(alone: int, weights: list[int]) -> None:
    ahead = [batches_ahead(alone, weight, weights) for weight in weights]
    assert min(ahead) >= 1
    assert abs(sum(ahead) - alone * len(weights)) <= len(weights)
    assert [share for _, share in sorted(zip(weights, ahead, strict=True))] == sorted(ahead)


@pytest.mark.parametrize(
    ("own", "others", "waiting", "taken"),
    [
        ((1, 6), [(1, 6)], 6, 3),
        ((1, 6), [(1, 6)], 3, 2),  # of equals it is this one
        ((1, 6), [(0, 6)], 1, 0),  # left to the one that has nothing
        ((5, 6), [(1, 6)], 4, 0),
        ((5, 6), [(1, 6)], 6, 1),
        ((1, 6), [(6, 6)], 4, 4),  # the other has no place
        ((1, 6), [(2, 2), (0, 2)], 4, 3),  # by parts of their places
        ((2, 6), [(0, 6), (1, 6)], 3, 0),
        ((2, 6), [(0, 6), (1, 6)], 4, 1),
        ((2, 6), [], 9, 4),
        ((6, 6), [(0, 6)], 1, 0),
    ],
)
def test_the_least_busy_browser_worker_takes_the_next_batch(
    own: tuple[int, int], others: list[tuple[int, int]], waiting: int, taken: int
) -> None:
    assert batches_of_least_busy(SlotLoad(*own), [SlotLoad(*other) for other in others], waiting) == taken


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8)), min_size=1, max_size=5), st.integers(0, 20))
def test_browser_workers_leave_no_batch_that_has_a_place(given_loads: list[tuple[int, int]], waiting: int) -> None:
    loads = [SlotLoad(min(taken, places), places) for taken, places in given_loads]
    shares = [
        batches_of_least_busy(load, loads[:number] + loads[number + 1 :], waiting) for number, load in enumerate(loads)
    ]
    assert all(share <= load.slots - load.taken for share, load in zip(shares, loads, strict=True))
    assert sum(shares) >= min(waiting, sum(load.slots - load.taken for load in loads))
