"""Stores the responses of API calls with an Idempotency-Key: the first call is run, the others get its response.

The unique key of user and Idempotency-Key decides which call is the first. If its process crashes, a claim without a
response is left, with the id of the object that the call was to create. A later attempt takes the claim over, looks for
an object with that id, and creates it only if there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from crawler.models import RepeatedCall

RESPONSE_TTL = timedelta(hours=24)
CLAIM_TTL = timedelta(minutes=2)  # an unanswered claim of this age can be taken over
DELETE_ROWS_PER_CALL = 500


@dataclass(frozen=True)
class ClaimedCall:
    """The caller is to run the call."""

    row: int
    claimed_at: datetime
    made_id: UUID  # the id for the object it creates
    is_second_try: bool  # an earlier attempt crashed; it may have created the object


@dataclass(frozen=True)
class FinishedCall:
    """The call was run; this was its response."""

    status: int
    headers: dict[str, str]
    body: str


@dataclass(frozen=True)
class UnderWay:
    """Another process is running the call."""


@dataclass(frozen=True)
class OtherCall:
    """The key was used for another call."""


Claim = ClaimedCall | FinishedCall | UnderWay | OtherCall


def digest_of(method: str, path: str, body: bytes, scopes: Iterable[str] = ()) -> str:
    """Identifies a call. Keyed, because bodies may contain passwords; with the caller's scopes, because a caller with
    fewer scopes must not get the response."""
    text = b"\n".join([method.encode(), path.encode(), " ".join(sorted(scopes)).encode(), body])
    return salted_hmac("crawler.accounts.idempotency", text, algorithm="sha256").hexdigest()


def claim(user: User, key: str, digest: str, now: datetime) -> Claim:
    """Decide who runs this call."""
    with transaction.atomic():
        RepeatedCall.objects.filter(user=user, key=key, claimed_at__lte=now - RESPONSE_TTL).delete()
        row, is_new = RepeatedCall.objects.get_or_create(
            user=user, key=key, defaults={"digest": digest, "claimed_at": now}
        )
    if is_new:
        return ClaimedCall(row.pk, now, row.made_id, is_second_try=False)
    if row.digest != digest:
        return OtherCall()
    if row.status is not None:
        return FinishedCall(row.status, row.headers, row.body)
    return _taken_over(row, now)


def keep(mine: ClaimedCall, status: int, headers: dict[str, str], body: str) -> None:
    """Store the response for repeated calls."""
    _still(mine).update(status=status, headers=headers, body=body)


def give_back(mine: ClaimedCall) -> None:
    """The call was refused and created nothing: its key can be used again."""
    _still(mine).delete()


def release(mine: ClaimedCall) -> None:
    """The call failed at an unknown point: the next attempt need not wait, and creates nothing twice."""
    _still(mine).update(claimed_at=mine.claimed_at - CLAIM_TTL)


def sweep(now: datetime) -> int:
    """Delete some of the responses that are older than a day; returns how many."""
    too_old = RepeatedCall.objects.filter(claimed_at__lte=now - RESPONSE_TTL).values_list("pk", flat=True)
    expired = list(too_old[:DELETE_ROWS_PER_CALL])
    return RepeatedCall.objects.filter(pk__in=expired).delete()[0] if expired else 0


def _taken_over(row: RepeatedCall, now: datetime) -> ClaimedCall | UnderWay:
    """An expired claim goes to the process whose update of its time succeeds."""
    if now - row.claimed_at < CLAIM_TTL:
        return UnderWay()
    unchanged = RepeatedCall.objects.filter(pk=row.pk, claimed_at=row.claimed_at, status=None)
    if unchanged.update(claimed_at=now) != 1:
        return UnderWay()
    return ClaimedCall(row.pk, now, row.made_id, is_second_try=True)


def _still(mine: ClaimedCall) -> QuerySet[RepeatedCall]:
    return RepeatedCall.objects.filter(pk=mine.row, claimed_at=mine.claimed_at, status=None)
