from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.crawl.shares import MOST_WEIGHT, batches_ahead


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
