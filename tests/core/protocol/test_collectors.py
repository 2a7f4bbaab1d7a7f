"""The number of a batch's collector is part of the batch's id."""

import pytest

from crawler.core.protocol.collectors import MAX_COLLECTORS, batch_id, collector_of


@pytest.mark.parametrize("collector", range(MAX_COLLECTORS))
def test_the_id_of_a_batch_names_its_collector(collector: int) -> None:
    assert collector_of(batch_id("fetch-0123456789abcdef", collector)) == collector


@pytest.mark.parametrize("batch", ["fetch-0123456789abcdef", "b1", "", "fetch-0123-9", "fetch-0123-x", "fetch-0123-"])
def test_any_other_batch_is_left_to_the_first(batch: str) -> None:
    assert collector_of(batch) == 0
