"""Finished is said when two independent checks agree, for one reason; a crawl is woken when nobody else will."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.protocol.completion import (
    CHECK_INTERVAL_S,
    FOLLOWS,
    MAX_CHECK_INTERVAL_S,
    MIN_CHECK_INTERVAL_S,
    REST_RATIO,
    REST_RATIO_WHEN_DUE,
    CompletionCheck,
    EndReason,
    Limit,
    Liveness,
    QueueSide,
    State,
    ended,
    limit_of_time,
    needs_tick,
    predecessors,
    presumed_limits,
    rest_after,
    verdict,
    without_answer,
)
from crawler.core.protocol.counters import Tallies

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


def test_every_state_has_its_successors() -> None:
    assert set(FOLLOWS) == set(State)


def test_a_crawl_that_is_over_can_only_be_opened_again() -> None:
    over = {state: follows for state, follows in FOLLOWS.items() if state.is_over}
    assert over == {State.FINISHED: {State.RUNNING}, State.CANCELLED: {State.RUNNING}}


def test_only_a_running_crawl_finishes() -> None:
    assert predecessors(State.FINISHED) == (State.RUNNING,)


def test_a_crawl_that_is_not_over_can_be_cancelled() -> None:
    assert set(predecessors(State.CANCELLED)) == {State.LOADING, State.RUNNING, State.PAUSED}


OVER = [state for state in State if state.is_over]
COUNTS = st.dictionaries(st.sampled_from([outcome.value for outcome in Outcome]), st.integers(0, 99))
LIMITS = st.dictionaries(st.sampled_from([limit.value for limit in Limit]), st.integers(0, 99))


def tallies(statuses: dict[str, int] | None = None, **outcomes: int) -> Tallies:
    """With pages named by their outcome: `ok` stands for 2xx."""
    counted = {"2xx" if name == "ok" else name: number for name, number in outcomes.items()}
    return Tallies(discovered=sum(counted.values()), outcomes=counted, statuses=statuses or {})


def why(counted: Tallies, limits: dict[str, int] | None = None, state: State = State.FINISHED) -> EndReason | None:
    return ended(state, counted, limits or {})


@pytest.mark.parametrize(
    ("counted", "limits", "expected"),
    [
        (tallies(ok=3), {}, EndReason.COMPLETE),
        # What robots.txt or a trap keeps out is no part of the site that may be asked for.
        (tallies(ok=3, robots=5, trap=80, private_address=1, too_many_redirects=1), {}, EndReason.COMPLETE),
        # A page that is not there is an answer.
        (Tallies(discovered=3, outcomes={"2xx": 2, "4xx": 1}, statuses={"200": 2, "404": 1}), {}, EndReason.COMPLETE),
        (tallies(ok=3, timeout=1), {}, EndReason.COMPLETE_WITH_ERRORS),
        (Tallies(discovered=2, outcomes={"2xx": 1, "5xx": 1}, statuses={"503": 1}), {}, EndReason.COMPLETE_WITH_ERRORS),
        (Tallies(discovered=2, outcomes={"2xx": 1, "4xx": 1}, statuses={"429": 1}), {}, EndReason.COMPLETE_WITH_ERRORS),
        # Nothing came of it.
        (Tallies(discovered=1, outcomes={"4xx": 1}, statuses={"404": 1}), {}, EndReason.COMPLETE_WITH_ERRORS),
        (tallies(robots=1), {}, EndReason.COMPLETE_WITH_ERRORS),
        (tallies(ok=40, limit=417), {"pages": 417}, EndReason.LIMIT),
        (tallies(ok=40, limit=417, timeout=1), {"pages": 400, "depth": 17}, EndReason.LIMIT),
        (tallies(ok=3, expired=1), {"page_ttl": 1}, EndReason.LIMIT),
        (tallies(ok=3, limit=1), {}, EndReason.LIMIT),  # whichever it was
        (tallies(ok=3, expired=5, limit=9), {"deadline": 5, "depth": 9}, EndReason.DEADLINE),
        # Its dead letters were sent again after it was cancelled: the other pages were never asked for.
        (tallies(ok=3, cancelled=6), {}, EndReason.CANCELLED),
    ],
)
def test_a_finished_crawl_ended_for_one_reason(counted: Tallies, limits: dict[str, int], expected: EndReason) -> None:
    assert why(counted, limits) is expected


def test_a_cancelled_crawl_is_cancelled_whatever_else_is_true() -> None:
    assert why(tallies(ok=1, limit=3), {"depth": 3}, State.CANCELLED) is EndReason.CANCELLED


@given(COUNTS, LIMITS, st.sampled_from([state for state in State if not state.is_over]))
def test_what_is_not_over_has_not_ended(outcomes: dict[str, int], limits: dict[str, int], state: State) -> None:
    assert ended(state, Tallies(discovered=999_999, outcomes=outcomes), limits) is None


@given(COUNTS, st.sampled_from(OVER))
def test_it_is_complete_only_if_nothing_was_left_out_and_all_answered(outcomes: dict[str, int], state: State) -> None:
    counted = Tallies(discovered=sum(outcomes.values()), outcomes=outcomes)
    if ended(state, counted, {}) is EndReason.COMPLETE:
        assert not counted.in_category(Category.FAILED) + counted.in_category(Category.CANCELLED)
        assert not {Outcome.LIMIT, Outcome.EXPIRED} & {outcome for outcome, number in outcomes.items() if number}


def test_pages_without_a_usable_answer_are_those_that_failed_or_may_answer_another_time() -> None:
    counted = Tallies(
        discovered=9,
        outcomes={"2xx": 2, "4xx": 3, "5xx": 2, "connect": 2},
        statuses={"200": 2, "404": 1, "410": 1, "429": 1, "500": 1, "503": 1},
    )
    assert without_answer(counted) == 5


@pytest.mark.parametrize(
    ("options", "now", "expected"),
    [
        (CrawlOptions(deadline=60.0), 1060.0, Limit.DEADLINE),
        (CrawlOptions(deadline=60.0), 1030.0, Limit.PAGE_TTL),  # that of its line in a list
        (CrawlOptions(), 1030.0, Limit.PAGE_TTL),
        (CrawlOptions(page_ttl=10.0), 1090.0, Limit.PAGE_TTL),
        (CrawlOptions(deadline=60.0, page_ttl=10.0), 1030.0, Limit.PAGE_TTL),
        (CrawlOptions(deadline=60.0, page_ttl=10.0), 1060.0, Limit.DEADLINE),
    ],
)
def test_a_page_expires_by_the_deadline_or_by_its_own_time(options: CrawlOptions, now: float, expected: Limit) -> None:
    assert limit_of_time(options, 1000.0, now) is expected


@pytest.mark.parametrize(
    ("outcome", "pages", "counted", "expected"),
    [
        ("limit", 3, {"depth": 5}, {"depth": 3}),
        ("limit", 3, {"depth": 5, "pages": 1, "page_ttl": 9}, {"pages": 1, "depth": 2}),
        ("expired", 4, {"page_ttl": 5, "deadline": 3}, {"deadline": 3, "page_ttl": 1}),
        ("expired", 4, {}, {}),  # the crawl counts none, so none is taken from it
    ],
)
def test_pages_without_a_limit_of_their_own_have_those_of_the_crawl(
    outcome: str, pages: int, counted: dict[str, int], expected: dict[str, int]
) -> None:
    assert +presumed_limits(outcome, pages, counted) == expected
