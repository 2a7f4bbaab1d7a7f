"""Why a crawl ended: one reason, with the limits that were reached."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Category, Outcome
from crawler.core.protocol.completion import (
    EndReason,
    Limit,
    State,
    ended,
    limit_of_time,
    presumed_limits,
    without_answer,
)
from crawler.core.protocol.counters import Tallies

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
