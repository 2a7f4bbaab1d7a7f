"""Tokens of the API: made once, kept as digests, found until they are over."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.accounts.tokens import MAX_TOKENS, make_token, note_use, revoke, token_of, tokens_of
from crawler.core.access.permissions import Scope
from crawler.core.errors import BadInput
from crawler.models import ApiToken
from tests.factories import a_person

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def ann(db: None) -> User:
    return a_person("ann")


def made(user: User, **fields: Any) -> tuple[ApiToken, str]:
    given: dict[str, Any] = {"name": "builds", "scope_names": [Scope.CRAWLS_READ], "now": NOW, **fields}
    return make_token(user, **given)


def test_a_token_is_found_by_its_secret_alone(ann: User) -> None:
    token, secret = made(ann)
    assert token_of(secret, NOW) == token
    assert token_of(secret + "x", NOW) is None
    assert token_of("", NOW) is None


def test_the_secret_is_long_random_and_kept_nowhere(ann: User) -> None:
    (token, secret), (_, other) = made(ann), made(ann)
    assert secret.startswith("sc_")
    assert len(secret) == 3 + 43
    assert secret != other
    kept = ApiToken.objects.filter(pk=token.pk).values().get()
    assert secret not in str(kept)
    assert kept["digest"] == hashlib.sha256(secret.encode()).hexdigest()


def test_it_is_over_at_its_time(ann: User) -> None:
    token, secret = made(ann, expires_at=NOW + timedelta(days=1))
    assert token_of(secret, NOW + timedelta(hours=23)) == token
    assert token_of(secret, NOW + timedelta(days=1)) is None


def test_it_is_over_when_it_is_revoked_which_is_done_once(ann: User) -> None:
    token, secret = made(ann)
    assert revoke(ann, token.pk, NOW)
    assert not revoke(ann, token.pk, NOW)
    assert token_of(secret, NOW) is None
    assert not tokens_of(ann).exists()


def test_a_user_cannot_revoke_tokens_of_others(ann: User) -> None:
    token, secret = made(ann)
    assert not revoke(a_person("bob"), token.pk, NOW)
    assert token_of(secret, NOW) == token


def test_its_use_is_noted_once_a_minute(ann: User, django_assert_num_queries: Any) -> None:
    token, secret = made(ann)
    note_use(token, NOW)
    used = token_of(secret, NOW)
    assert used is not None
    assert used.last_used_at == NOW
    with django_assert_num_queries(0):
        note_use(used, NOW + timedelta(seconds=59))
    note_use(used, NOW + timedelta(seconds=60))
    token.refresh_from_db()
    assert token.last_used_at == NOW + timedelta(seconds=60)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scope_names": []}, "scopes"),
        ({"scope_names": ["crawls:everything"]}, "scopes"),
        ({"expires_at": NOW}, "expires_at"),
    ],
)
def test_what_cannot_be_made_is_refused(ann: User, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput) as refused:
        made(ann, **fields)
    assert refused.value.field == field
    assert not ApiToken.objects.exists()


def test_the_number_of_tokens_is_limited(ann: User) -> None:
    for number in range(MAX_TOKENS):
        ApiToken.objects.create(user=ann, name="old", digest=str(number), shown="sc_")
    with pytest.raises(BadInput):
        made(ann)
