"""What is handed out of a host fits the delay it asks for."""

from __future__ import annotations

import pytest

from crawler.core import politeness


def test_the_longer_delay_counts() -> None:
    assert politeness.host_delay(1.0, None) == 1.0
    assert politeness.host_delay(1.0, 5.0) == 5.0
    assert politeness.host_delay(6.0, 5.0) == 6.0


def test_a_host_cannot_ask_for_eternity() -> None:
    assert politeness.host_delay(0.0, 86400.0) == politeness.LONGEST_DELAY


@pytest.mark.parametrize(("delay", "pages"), [(0, 64), (0.1, 50), (0.5, 10), (1, 5), (2, 2), (3, 1), (60, 1)])
def test_a_slice_never_lasts_long(delay: float, pages: int) -> None:
    assert politeness.slice_pages(delay) == pages


@pytest.mark.parametrize(("delay", "slices"), [(0, 4), (0.1, 4), (0.5, 1), (10, 1)])
def test_a_long_delay_leaves_nothing_for_a_second_connection(delay: float, slices: int) -> None:
    assert politeness.slices_at_once(delay, 4) == slices
