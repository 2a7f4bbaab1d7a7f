"""Claims to calls that may be sent twice: who gets one, and how long it is kept."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from crawler.accounts.idempotency import (
    CLAIM_TTL,
    RESPONSE_TTL,
    Claim,
    ClaimedCall,
    FinishedCall,
    OtherCall,
    UnderWay,
    claim,
    digest_of,
    give_back,
    keep,
    release,
    sweep,
)
from crawler.models import RepeatedCall
from tests.factories import a_person

NOW = datetime(2030, 1, 2, tzinfo=UTC)


@pytest.fixture
def ann(db: None) -> User:
    return a_person("ann")


def claimed(user: User, *, digest: str = "d", after: timedelta = timedelta(0)) -> Claim:
    return claim(user, "k", digest, NOW + after)


def mine(user: User, *, after: timedelta = timedelta(0)) -> ClaimedCall:
    found = claimed(user, after=after)
    assert isinstance(found, ClaimedCall)
    return found


def test_the_first_runs_it_and_the_next_waits(ann: User) -> None:
    assert not mine(ann).is_second_try
    assert claimed(ann) == UnderWay()


def test_later_calls_get_the_stored_response(ann: User) -> None:
    keep(mine(ann), 201, {"Location": "/x"}, "{}")
    assert claimed(ann, after=timedelta(hours=23)) == FinishedCall(201, {"Location": "/x"}, "{}")


def test_another_call_does_not_get_it(ann: User) -> None:
    keep(mine(ann), 201, {}, "{}")
    assert claimed(ann, digest="other") == OtherCall()


def test_a_silent_try_is_taken_over_by_one_with_the_same_id_to_make(ann: User) -> None:
    first = mine(ann)
    second = mine(ann, after=CLAIM_TTL)
    assert (second.is_second_try, second.made_id) == (True, first.made_id)
    assert claimed(ann, after=CLAIM_TTL) == UnderWay()


def test_a_call_that_lost_its_claim_stores_no_response(ann: User) -> None:
    first = mine(ann)
    second = mine(ann, after=CLAIM_TTL)
    keep(first, 500, {}, "late")
    keep(second, 201, {}, "in time")
    assert claimed(ann) == FinishedCall(201, {}, "in time")


def test_trouble_lets_the_next_try_come_at_once(ann: User) -> None:
    release(mine(ann))
    assert mine(ann).is_second_try


def test_a_refusal_forgets_the_call(ann: User) -> None:
    give_back(mine(ann))
    assert isinstance(claimed(ann, digest="mended"), ClaimedCall)


def test_answers_are_forgotten_after_a_day(ann: User) -> None:
    keep(mine(ann), 201, {}, "{}")
    assert sweep(NOW + RESPONSE_TTL - timedelta(seconds=1)) == 0
    assert sweep(NOW + RESPONSE_TTL) == 1
    assert not RepeatedCall.objects.exists()


@pytest.mark.parametrize("other", [("PUT", "/a", b"x"), ("POST", "/b", b"x"), ("POST", "/a", b"y")])
def test_calls_differ_by_method_path_and_body(other: tuple[str, str, bytes]) -> None:
    assert digest_of(*other) != digest_of("POST", "/a", b"x") == digest_of("POST", "/a", b"x")
