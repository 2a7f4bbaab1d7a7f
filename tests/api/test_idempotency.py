"""Calls with an Idempotency-Key, one after the other, at the same moment, and after somebody died."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from crawler.accounts import idempotency
from crawler.core.access.permissions import Scope
from crawler.models import Crawl, RepeatedCall, Schedule
from tests.api.calling import Caller, a_token
from tests.factories import a_crawl

HERE = {"start_urls": ["http://127.0.0.1:8/"], "allow_private": True}
KEY = {"Idempotency_Key": "k-1"}


def test_the_same_call_is_done_once_and_answered_again(by_root: Caller, real_redis: object) -> None:
    first, second = by_root.post("/crawls", HERE, **KEY), by_root.post("/crawls", HERE, **KEY)
    assert (first.status_code, second.status_code, Crawl.objects.count()) == (201, 201, 1)
    assert (first.content, first["Location"]) == (second.content, second["Location"])
    assert ("Idempotency-Replayed" in first, second["Idempotency-Replayed"]) == (False, "true")


def test_a_schedule_is_made_once(by_root: Caller, real_redis: object) -> None:
    answers = [by_root.post("/schedules", {**HERE, "rule": "every 6h"}, **KEY).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert Schedule.objects.count() == 1


def test_clients_of_firecrawl_write_it_with_an_x(by_root: Caller, root: User, real_redis: object) -> None:
    crawl = a_crawl(root, state="paused")
    for _ in range(2):
        response = by_root.post(f"/crawls/{crawl.id}/resume", None, X_Idempotency_Key="k-1")
        assert response.json()["moved"] is True


def test_without_a_key_a_second_call_is_a_second_crawl(by_root: Caller, real_redis: object) -> None:
    for _ in range(2):
        by_root.post("/crawls", HERE)
    assert Crawl.objects.count() == 2


@pytest.mark.parametrize(("path", "body"), [("/crawls", {**HERE, "max_pages": 1}), ("/crawl", HERE)])
def test_a_key_is_for_one_call_alone(by_root: Caller, real_redis: object, path: str, body: dict[str, Any]) -> None:
    by_root.post("/crawls", HERE, **KEY)
    response = by_root.post(path, body, **KEY)
    assert (response.status_code, Crawl.objects.count()) == (422, 1)
    assert "another call" in response.json()["detail"]


def test_a_refused_call_leaves_its_key_free_for_the_mended_one(by_root: Caller, real_redis: object) -> None:
    assert by_root.post("/crawls", {**HERE, "max_pages": 0}, **KEY).status_code == 422
    assert by_root.post("/crawls", HERE, **KEY).status_code == 201


def test_trouble_may_be_tried_again_at_once(by_root: Caller, real_redis: object, settings: Any) -> None:
    there, settings.REDIS_URL = settings.REDIS_URL, "redis://127.0.0.1:1/0"
    assert by_root.post("/crawls", HERE, **KEY).status_code == 503
    settings.REDIS_URL = there
    assert by_root.post("/crawls", HERE, **KEY).status_code == 201
    assert Crawl.objects.count() == 1


def test_a_call_under_way_is_asked_for_again_in_a_second(by_root: Caller, root: User) -> None:
    claimed(root, HERE, by_root)
    response = by_root.post("/crawls", HERE, **KEY)
    assert (response.status_code, response["Retry-After"]) == (409, "1")
    assert not Crawl.objects.exists()


def test_what_a_dead_try_has_made_is_found_and_not_made_again(by_root: Caller, root: User, real_redis: object) -> None:
    row = claimed(root, HERE, by_root, age=idempotency.CLAIM_TTL)
    made = a_crawl(root, id=row.made_id)
    response = by_root.post("/crawls", HERE, **KEY)
    assert (response.status_code, response.json()["id"]) == (201, str(made.id))
    assert Crawl.objects.count() == 1


def test_what_a_dead_try_has_not_made_is_made_with_the_id_it_was_to_have(
    by_root: Caller, root: User, real_redis: object
) -> None:
    row = claimed(root, HERE, by_root, age=idempotency.CLAIM_TTL)
    assert by_root.post("/crawls", HERE, **KEY).json()["id"] == str(row.made_id)


def test_a_token_that_may_do_less_is_not_given_the_answer(by_root: Caller, root: User, real_redis: object) -> None:
    by_root.post("/crawls", HERE, **KEY)
    assert Caller(a_token(root, Scope.CRAWLS_READ)).post("/crawls", HERE, **KEY).status_code == 422


def test_one_persons_keys_are_not_anothers(by_root: Caller, by_ann: Caller, real_redis: object) -> None:
    by_root.post("/crawls", HERE, **KEY)
    assert by_ann.post("/crawls", HERE, **KEY).json()["errors"][0]["field"] == "allow_private"


@pytest.mark.parametrize("key", ["x" * 256, "naïve"])
def test_a_key_that_cannot_be_kept_is_refused(by_ann: Caller, key: str) -> None:
    assert by_ann.post("/crawls", HERE, Idempotency_Key=key).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_of_calls_at_the_same_moment_one_makes_a_crawl(root: User, real_redis: object) -> None:
    secret = a_token(root, Scope.CRAWLS_WRITE)

    def call(_: int) -> Any:
        try:
            return Caller(secret).post("/crawls", HERE, **KEY)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(call, range(6)))
    assert Crawl.objects.count() == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert {answer.json()["id"] for answer in answers if answer.status_code == 201} == {str(Crawl.objects.get().id)}


def claimed(user: User, body: dict[str, Any], caller: Caller, *, age: timedelta = timedelta(0)) -> RepeatedCall:
    """The claim of a try of this call, begun so long ago, that has not answered."""
    digest = idempotency.digest_of("POST", "/api/v1/crawls", caller.bytes_of(body), Scope)
    idempotency.claim(user, "k-1", digest, timezone.now() - age)
    return RepeatedCall.objects.get()
