"""Pages that may have killed their worker go in smaller batches, and alone once a worker died over them."""

import pytest

from crawler.core.protocol.retries import SUSPECTS_PER_BATCH, batch_size, host_of, lane_of, lanes_of, suffix_of


@pytest.mark.parametrize(
    ("is_suspect", "deaths", "expected"), [(False, 0, None), (True, 0, SUSPECTS_PER_BATCH), (True, 1, 1), (True, 7, 1)]
)
def test_a_suspect_goes_in_small_company_and_alone_once_a_worker_died_over_it(
    is_suspect: bool, deaths: int, expected: int | None
) -> None:
    lane = lane_of("example.com:8080", is_suspect=is_suspect, deaths=deaths)
    assert batch_size(lane) == expected
    assert host_of(lane) == "example.com:8080"
    assert lane in lanes_of("example.com:8080")


@pytest.mark.parametrize(
    ("is_suspect", "deaths", "expected"), [(False, 0, None), (True, 0, SUSPECTS_PER_BATCH), (True, 1, 1)]
)
def test_pages_of_a_slot_lane_have_lanes_of_their_own(is_suspect: bool, deaths: int, expected: int | None) -> None:
    lane = lane_of("example.com:8080", is_suspect=is_suspect, deaths=deaths, suffix="b")
    assert suffix_of(lane) == "b"
    assert not suffix_of(lane_of("example.com:8080", is_suspect=is_suspect, deaths=deaths))
    assert (batch_size(lane), host_of(lane)) == (expected, "example.com:8080")
    assert lane in lanes_of("example.com:8080")
