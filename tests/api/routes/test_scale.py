"""How many workers would be useful, by the API: of all crawls, with the names of the caller's alone."""

import pytest
from django.contrib.auth.models import User
from redis import Redis

from crawler.core.access.permissions import Scope
from crawler.frontier.autoscalers import API_TTL_S, has_autoscaler
from crawler.frontier.keys import SCALED_BY_API
from tests.api.calling import Caller, a_token
from tests.factories import a_crawl

pytestmark = pytest.mark.django_db


def scale_for(user: User) -> dict[str, object]:
    found: dict[str, object] = Caller(a_token(user, Scope.SCALE_READ)).get("/scale").json()
    return found


def test_every_crawl_counts_and_only_those_of_the_caller_are_named(ann: User, bob: User, real_redis: Redis) -> None:
    mine, theirs = a_crawl(ann), a_crawl(bob, start_urls=["https://secret.example/"])
    for user, own, other in ((ann, mine, theirs), (bob, theirs, mine)):
        found = scale_for(user)
        assert (found["wanted"], found["running"]) == (1, 0)
        assert str(own.pk) in str(found["reasons"])
        assert str(other.pk) not in str(found["reasons"])
    assert "secret.example" not in str(scale_for(ann))


def test_the_right_to_read_crawls_is_not_enough(ann: User, real_redis: Redis) -> None:
    assert Caller(a_token(ann, Scope.CRAWLS_READ)).get("/scale").status_code == 403


def test_a_token_for_nothing_else_is_that_of_an_autoscaler(ann: User, real_redis: Redis) -> None:
    scale_for(ann)
    assert has_autoscaler(real_redis)
    assert 30 < real_redis.ttl(SCALED_BY_API) <= API_TTL_S  # KEDA asks every 30 s


def test_one_with_other_rights_may_be_that_of_a_user_who_looks(ann: User, real_redis: Redis) -> None:
    Caller(a_token(ann, Scope.SCALE_READ, Scope.CRAWLS_READ)).get("/scale")
    assert not has_autoscaler(real_redis)
