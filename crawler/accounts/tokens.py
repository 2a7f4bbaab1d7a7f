"""API tokens: creation, lookup by their digest, revocation."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from crawler.accounts import audit
from crawler.core.access import permissions
from crawler.core.errors import BadInput
from crawler.models import ApiToken

PREFIX = "sc_"  # by which users and scanners for leaked secrets recognise a token
SECRET_BYTES = 32
PREFIX_CHARACTERS = 8  # first characters, including the prefix, by which users recognise a token
MAX_TOKENS = 100  # usable tokens of one user
USE_NOTE_INTERVAL = timedelta(minutes=1)  # between two updates of `last_used_at`


def make_token(
    user: User, name: str, scope_names: Iterable[str], *, now: datetime, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A new token and its secret, which cannot be shown again. BadInput ("name", "scopes", "expires_at")."""
    name = " ".join(name.split())
    if not name or len(name) > 100:
        raise BadInput("name", "Give the token a name of 1 to 100 characters, such as the program that uses it.")
    if expires_at is not None and expires_at <= now:
        raise BadInput("expires_at", "The expiry date is in the past; choose a later day, or none.")
    if usable_tokens(user, now).count() >= MAX_TOKENS:
        raise BadInput("name", f"You have {MAX_TOKENS} tokens. Revoke one that is no longer used.")
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user,
            name=name,
            digest=_digest(secret),
            shown=secret[:PREFIX_CHARACTERS],
            scopes=list(permissions.checked(scope_names)),
            created_at=now,
            expires_at=expires_at,
        )
        until = expires_at.isoformat() if expires_at else None
        audit.note("token.made", token, after={"scopes": token.scopes, "expires_at": until})
    return token, secret


def token_of(secret: str, now: datetime) -> ApiToken | None:
    """The token with this secret, its user loaded; None if there is none, or it is not usable any more.

    The lookup is by digest, so that its timing reveals nothing about secrets.
    """
    return _good(now, digest=_digest(secret))


def is_good(token: ApiToken, now: datetime) -> ApiToken | None:
    """The same token as stored now, its user loaded; None if it is not usable any more."""
    return _good(now, pk=token.pk)


def _good(now: datetime, **which: Any) -> ApiToken | None:
    return ApiToken.objects.select_related("user").filter(_usable(now), user__is_active=True, **which).first()


def note_use(token: ApiToken, now: datetime) -> None:
    """Record that the token was used, once a minute at most."""
    if token.last_used_at is not None and now - token.last_used_at < USE_NOTE_INTERVAL:
        return
    long_ago = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTE_INTERVAL)
    ApiToken.objects.filter(long_ago, pk=token.pk).update(last_used_at=now)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The user's tokens that were not revoked, the newest first."""
    return ApiToken.objects.filter(user=user, revoked_at=None).order_by("-created_at", "-pk")


def usable_tokens(user: User, now: datetime) -> QuerySet[ApiToken]:
    return tokens_of(user).filter(_usable(now))


def revoke(user: User, token_id: int, now: datetime) -> bool:
    """Revoke a token of this user. True if this call revoked it."""
    with transaction.atomic():
        mine = ApiToken.objects.filter(user=user, pk=token_id)
        if mine.filter(revoked_at=None).update(revoked_at=now) != 1:
            return False
        token = mine.get()
        audit.note("token.revoked", token, before={"scopes": token.scopes})
    return True


def _usable(now: datetime) -> Q:
    return Q(revoked_at=None) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))


def _digest(secret: str) -> str:
    """SHA-256 is enough: a secret of 32 random bytes cannot be guessed, so it need not be slow to check."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
