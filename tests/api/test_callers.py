"""Who calls: by token, by session, and how often."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.access.permissions import ALL_SCOPES, Scope
from crawler.models import ApiToken
from tests.api.calling import ROOT, Caller, a_token


def test_a_token_says_whom_it_acts_for_and_what_it_may_do(ann: User) -> None:
    secret = a_token(ann, Scope.CRAWLS_READ)
    said = Caller(secret).get("/me").json()
    assert (said["user"], said["superuser"], said["scopes"]) == ("ann", False, ["crawls:read"])
    assert said["token"]["shown"] == secret[:8]


def test_a_session_may_do_everything(client: Client, ann: User) -> None:
    client.force_login(ann)
    said = client.get(f"{ROOT}/me").json()
    assert (said["token"], set(said["scopes"])) == (None, ALL_SCOPES)


def test_an_unknown_token_is_refused_even_with_a_session(client: Client, ann: User) -> None:
    client.force_login(ann)
    response = client.get(f"{ROOT}/me", headers={"Authorization": "Bearer sc_made_up"})
    assert response.status_code == 401
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


@pytest.mark.parametrize("header", ["Basic YW5uOnNlY3JldA==", "Bearer", "", "sc_only"])
@pytest.mark.django_db
def test_an_invalid_token_is_refused(client: Client, header: str) -> None:
    assert client.get(f"{ROOT}/me", headers={"Authorization": header}).status_code == 401


@pytest.mark.parametrize("word", ["bearer", "BEARER"])
def test_the_word_bearer_is_read_in_any_case(client: Client, ann: User, word: str) -> None:
    header = f"{word} {a_token(ann, Scope.CRAWLS_READ)}"
    assert client.get(f"{ROOT}/me", headers={"Authorization": header}).status_code == 200


def test_ones_own_tokens_are_listed_without_their_secrets(ann: User, bob: User) -> None:
    mine = a_token(ann, Scope.TOKENS_READ)
    a_token(bob, Scope.TOKENS_READ)
    response = Caller(mine).get("/tokens")
    assert [token["shown"] for token in response.json()["items"]] == [mine[:8]]
    assert mine not in response.content.decode()


def test_a_token_may_revoke_itself(ann: User) -> None:
    caller = Caller(a_token(ann, Scope.TOKENS_WRITE))
    assert caller.delete(f"/tokens/{ApiToken.objects.get().pk}").status_code == 204
    assert caller.get("/me").status_code == 401


def test_every_answer_tells_how_many_calls_are_left(by_ann: Caller, real_redis: object, settings: Any) -> None:
    settings.CRAWLER_API_PER_MINUTE = 2
    first = by_ann.get("/me")
    assert (first["RateLimit-Limit"], first["RateLimit-Remaining"]) == ("2", "1")
    assert first["RateLimit-Policy"] == '"minute";q=2;w=60'
    assert first["RateLimit"] == f'"minute";r=1;t={first["RateLimit-Reset"]}'
    assert by_ann.get("/nonsense")["RateLimit-Remaining"] == "0"


def test_too_many_calls_are_refused_until_the_minute_is_over(
    by_ann: Caller, ann: User, real_redis: Any, settings: Any
) -> None:
    settings.CRAWLER_API_PER_MINUTE = 1
    by_ann.get("/me")
    response = by_ann.get("/me")
    assert response.status_code == 429
    assert response["Retry-After"] == response["RateLimit-Reset"]
    real_redis.delete(*real_redis.keys("crawler:calls:*"))  # what the end of the minute does
    assert by_ann.get("/me").status_code == 200


def test_another_token_of_the_same_person_gives_no_more_calls(ann: User, real_redis: object, settings: Any) -> None:
    settings.CRAWLER_API_PER_MINUTE = 1
    assert [Caller(a_token(ann, Scope.CRAWLS_READ)).get("/me").status_code for _ in range(2)] == [200, 429]


def test_the_calls_of_one_do_not_count_for_another(
    by_ann: Caller, by_bob: Caller, real_redis: object, settings: Any
) -> None:
    settings.CRAWLER_API_PER_MINUTE = 1
    assert [caller.get("/me").status_code for caller in (by_ann, by_bob)] == [200, 200]


@pytest.mark.parametrize("limit", [0, 600])
def test_without_a_limit_or_without_redis_nothing_is_counted(by_ann: Caller, settings: Any, limit: int) -> None:
    settings.CRAWLER_API_PER_MINUTE = limit
    response = by_ann.get("/me")
    assert (response.status_code, "RateLimit" in response) == (200, False)
