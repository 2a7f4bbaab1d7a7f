"""Every outcome belongs to exactly one heap of the receipt."""

from __future__ import annotations

import pytest

from crawler.core.crawl.outcomes import Kind, Outcome, of_status

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


def test_every_outcome_has_a_kind() -> None:
    assert {outcome.kind for outcome in Outcome} == set(Kind)


def test_an_error_status_is_fetched_because_a_response_arrived() -> None:
    assert Outcome.CLIENT_ERROR.kind is Kind.FETCHED
    assert Outcome.SERVER_ERROR.kind is Kind.FETCHED
