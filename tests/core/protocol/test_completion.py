"""Finished is said when two independent checks agree, and a crawl is woken when nobody else will."""

from dataclasses import replace
from typing import Any

import pytest

from crawler.core.protocol.completion import (
    CHECK_INTERVAL_S,
    MAX_CHECK_INTERVAL_S,
    MIN_CHECK_INTERVAL_S,
    REST_RATIO,
    REST_RATIO_WHEN_DUE,
    CompletionCheck,
    Liveness,
    QueueSide,
    needs_tick,
    rest_after,
    verdict,
)

EMPTY = QueueSide(results=0, leases=0, hosts=0, dirty=False)
NOW = 1000.0


def test_both_empty_is_finished() -> None:
    assert verdict(EMPTY, open_pages=False) is CompletionCheck.FINISH


def test_an_empty_queue_with_open_pages_is_a_disagreement() -> None:
    assert verdict(EMPTY, open_pages=True) is CompletionCheck.DISAGREE


@pytest.mark.parametrize("held", ["results", "leases", "hosts", "dirty"])
@pytest.mark.parametrize("open_pages", [True, False])
def test_anything_queued_means_going_on(held: str, open_pages: bool) -> None:
    queue_side = QueueSide(**{"results": 0, "leases": 0, "hosts": 0, "dirty": False, held: 1})
    assert verdict(queue_side, open_pages=open_pages) is CompletionCheck.GO_ON


def signs(**seen: Any) -> Liveness:
    nothing = {
        "locked": False,
        "tick_coming": False,
        "results": 0,
        "leases": 0,
        "overdue_leases": 0,
        "next_due": None,
    }
    return Liveness(**(nothing | seen))


WAKING = [
    ("nothing is known of it", signs(), True),
    ("results lie about", signs(results=1, leases=1), True),
    ("a lease ran out", signs(leases=2, overdue_leases=1), True),
    ("a page is due", signs(leases=1, next_due=NOW), True),
    ("a page is due later", signs(next_due=NOW + 1), False),
    ("fetch jobs are at work", signs(leases=1), False),
    ("a tick is at work", signs(locked=True, results=1), False),
    ("a tick is coming", signs(tick_coming=True, results=1), False),
]


@pytest.mark.parametrize(("seen", "expected"), [case[1:] for case in WAKING], ids=[case[0] for case in WAKING])
def test_a_crawl_is_woken_when_nobody_else_will(seen: Liveness, expected: bool) -> None:
    assert needs_tick(seen, NOW) is expected


class TestTheNextLook:
    """Looks at the crawls rest until something is due, within bounds."""

    def test_with_nothing_due_a_few_seconds(self) -> None:
        assert rest_after(0.005, None) == CHECK_INTERVAL_S

    def test_sooner_when_something_is_due_sooner_and_not_later(self) -> None:
        assert rest_after(0.005, 1.25) == 1.25
        assert rest_after(0.005, 3600.0) == CHECK_INTERVAL_S

    def test_never_without_a_rest(self) -> None:
        assert rest_after(0.0, 0.0) == MIN_CHECK_INTERVAL_S

    def test_looks_that_take_long_are_seldom_and_at_least_every_few_seconds(self) -> None:
        assert rest_after(0.2, None) == 0.2 * REST_RATIO
        assert rest_after(0.2, 0.0) == 0.2 * REST_RATIO_WHEN_DUE
        assert rest_after(60.0, None) == rest_after(60.0, 0.0) == MAX_CHECK_INTERVAL_S

    def test_the_next_moment_is_the_first_of_those_to_come(self) -> None:
        signs = Liveness(
            locked=True, tick_coming=False, results=0, leases=1, overdue_leases=0, next_due=90.0, next_loss=112.0
        )
        assert signs.next_moment(now=100.0) == 112.0
        assert replace(signs, next_due=105.0).next_moment(now=100.0) == 105.0
        assert replace(signs, next_due=105.0, paused=True).next_moment(now=100.0) == 112.0
        assert replace(signs, next_loss=None).next_moment(now=100.0) is None
