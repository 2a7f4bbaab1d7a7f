"""Counters and rows are added up by one formula; the pages closed last are known without looking for them."""

from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.protocol.counters import RECENT_PAGES, Tallies, adds_up, tallied, with_closed
from crawler.core.protocol.messages import PageResult

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


def result(page: int, outcome: Outcome = Outcome.SUCCESS, status: int | None = 200, at: float = 1.0) -> PageResult:
    return PageResult(id=page, attempt=1, outcome=outcome, http_status=status, fetched_at=at)


def missing(page: int) -> PageResult:
    return result(page, Outcome.CLIENT_ERROR, 404)


def test_the_newest_come_first() -> None:
    recent = with_closed(with_closed({}, [result(1), result(2)]), [result(3)])
    assert recent == {"closed": [3, 2, 1], "troubled": []}


def test_only_so_many_are_kept() -> None:
    recent = with_closed({}, [missing(page) for page in range(3 * RECENT_PAGES)])
    assert len(recent["closed"]) == len(recent["troubled"]) == RECENT_PAGES
    assert recent["closed"][0] == 3 * RECENT_PAGES - 1


def test_a_page_with_an_error_status_is_in_both_lists() -> None:
    assert with_closed({}, [result(1), missing(2)]) == {"closed": [2, 1], "troubled": [2]}


def test_a_dead_letter_is_not_among_the_troubled() -> None:
    recent = with_closed({}, [result(1, Outcome.SERVER_ERROR, 503), result(2, Outcome.TIMEOUT, None)])
    assert recent == {"closed": [2, 1], "troubled": []}


def test_a_page_nobody_asked_for_is_in_neither() -> None:
    assert with_closed({}, [result(1, Outcome.ROBOTS, None, at=0.0)]) == {"closed": [], "troubled": []}


def test_a_page_that_closes_again_moves_to_the_front() -> None:
    assert with_closed({"closed": [2, 1], "troubled": []}, [result(1)])["closed"] == [1, 2]
