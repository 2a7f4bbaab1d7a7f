"""Every outcome is one entry, and is counted in one field of the receipt."""

import pytest

from crawler.core.pages import outcomes
from crawler.core.pages.outcomes import Category, Outcome, of_status

STATUSES = [
    (200, Outcome.SUCCESS),
    (204, Outcome.SUCCESS),
    (301, Outcome.REDIRECT),
    (304, Outcome.REDIRECT),
    (404, Outcome.CLIENT_ERROR),
    (503, Outcome.SERVER_ERROR),
    (199, Outcome.MALFORMED),
    (600, Outcome.MALFORMED),
    (999, Outcome.MALFORMED),
    (0, Outcome.MALFORMED),
]


@pytest.mark.parametrize(("status", "outcome"), STATUSES)
def test_a_status_leads_to_its_outcome(status: int, outcome: Outcome) -> None:
    assert of_status(status) is outcome


def test_every_category_has_an_outcome() -> None:
    assert {outcome.category for outcome in Outcome} == set(Category)


def test_an_error_status_is_fetched_because_a_response_arrived() -> None:
    assert Outcome.CLIENT_ERROR.category is Category.FETCHED
    assert Outcome.SERVER_ERROR.category is Category.FETCHED


GROUPS = [
    (outcomes.SUCCESSES, {"2xx", "unchanged"}),
    (outcomes.USABLE, {"2xx", "3xx", "unchanged"}),
    (outcomes.ERROR_RESPONSES, {"4xx", "5xx"}),
    (outcomes.FAILURES, {"dns", "connect", "tls", "timeout", "too_large", "malformed", "crashed", "lost"}),
    (outcomes.ERRORS, {*outcomes.ERROR_RESPONSES, *outcomes.FAILURES}),
    (outcomes.HOST_FAILURES, {"dns", "connect", "tls", "timeout", "private_address"}),
    (outcomes.LIMITED, {"limit", "expired"}),
    (outcomes.UNJUDGED, {"limit", "expired", "trap", "excluded", "cancelled", "lost"}),
]


@pytest.mark.parametrize(("group", "values"), GROUPS)
def test_a_group_holds_the_outcomes_that_its_users_mean(group: tuple[Outcome, ...], values: set[str]) -> None:
    assert set(group) == values
    assert len(group) == len(values)


def test_only_a_host_that_does_not_respond_is_given_up() -> None:
    assert {outcome for outcome in Outcome if outcome.entry.is_unresponsive} == {"dns", "connect", "timeout"}
