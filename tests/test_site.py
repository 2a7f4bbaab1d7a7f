"""What the site of a test says about the manners of a crawl is right."""

import pytest

from tests.site import lateness


def test_turns_that_are_a_delay_apart_are_kept() -> None:
    assert lateness([0.0, 1.0, 2.5, 3.5], delay=1.0) == [0.0, 0.0, 0.0, 0.0]


def test_a_request_that_was_slow_on_its_way_is_late_alone() -> None:
    assert lateness([0.0, 1.0, 2.5, 3.0, 4.0], delay=1.0) == [0.0, 0.0, 0.5, 0.0, 0.0]


def test_a_request_that_was_sent_too_soon_makes_all_before_it_late() -> None:
    assert lateness([0.0, 1.0, 2.0, 2.25, 3.25], delay=1.0) == [0.75, 0.75, 0.75, 0.0, 0.0]


def test_too_short_a_delay_makes_requests_later_and_later() -> None:
    assert lateness([0.0, 0.5, 1.0, 1.5], delay=1.0) == pytest.approx([1.5, 1.0, 0.5, 0.0])
