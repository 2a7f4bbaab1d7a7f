"""Counters and rows are added up by one formula."""

from crawler.core.pages.outcomes import Category
from crawler.core.protocol.counters import Tallies, adds_up, tallied

ROWS = [("2xx", 200, 5), ("4xx", 404, 2), ("dns", None, 1), ("robots", None, 3), ("limit", None, 1), ("", None, 4)]


def test_rows_are_tallied() -> None:
    tallies = tallied(ROWS)
    assert tallies.discovered == 16
    assert (tallies.closed, tallies.open) == (12, 4)
    assert tallies.statuses == {"200": 5, "404": 2}
    assert (tallies.in_category(Category.FETCHED), tallies.in_category(Category.FAILED)) == (7, 1)
    assert tallies.skipped() == {"limit": 1, "robots": 3}
    assert tallies.asked == 8


def test_counting_step_by_step_gives_the_same_as_counting_rows() -> None:
    moved = Tallies().plus(discovered=10).plus(outcomes={"2xx": 3, "dns": 1}, statuses={"200": 3})
    moved = moved.plus(discovered=6, outcomes={"2xx": 2, "4xx": 2}, statuses={"200": 2, "404": 2})
    moved = moved.plus(outcomes={"robots": 3, "limit": 1})
    assert moved == tallied(ROWS)


def test_a_receipt_adds_up_or_does_not() -> None:
    receipt = {"discovered": 9, "fetched": 4, "failed": 1, "skipped": {"robots": 2, "limit": 1}, "cancelled": 1}
    assert adds_up(receipt)
    assert not adds_up(receipt | {"fetched": 5})
