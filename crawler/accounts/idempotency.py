"""Calls of the API that may be sent twice: the first is done, the others get its answer.

The unique key of person and Idempotency-Key decides who is first. Whoever dies with a call in hand leaves a claim
without an answer, and with it the id of what the call was to make; a try that comes later takes the claim over, finds
by that id whether it was made, and makes it only if not.
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

KEPT = timedelta(hours=24)
A_TRY = timedelta(minutes=2)  # how long a call may take before another may take it for dead
SWEPT = 500  # rows deleted in one go


@dataclass(frozen=True)
class Mine:
    """The call is the caller's to do."""

    row: int
    claimed_at: datetime
    made_id: UUID  # what it makes is to have this id
    is_second_try: bool  # an earlier one died; it may have made it


@dataclass(frozen=True)
class Done:
    """The call was done; this was the answer."""

    status: int
    headers: dict[str, str]
    body: str


@dataclass(frozen=True)
class UnderWay:
    """Somebody is at it right now."""


@dataclass(frozen=True)
class OtherCall:
    """The key was used for another call."""


Claim = Mine | Done | UnderWay | OtherCall


def digest_of(method: str, path: str, body: bytes, scopes: Iterable[str] = ()) -> str:
    """What tells one call from another. Keyed, because bodies may hold passwords; with what its caller may do, because
    whoever may do less must not be given the answer."""
    text = b"\n".join([method.encode(), path.encode(), " ".join(sorted(scopes)).encode(), body])
    return salted_hmac("crawler.accounts.idempotency", text, algorithm="sha256").hexdigest()


def claim(user: User, key: str, digest: str, now: datetime) -> Claim:
    """Who does this call."""
    with transaction.atomic():
        RepeatedCall.objects.filter(user=user, key=key, claimed_at__lte=now - KEPT).delete()
        row, is_new = RepeatedCall.objects.get_or_create(
            user=user, key=key, defaults={"digest": digest, "claimed_at": now}
        )
    if is_new:
        return Mine(row.pk, now, row.made_id, is_second_try=False)
    if row.digest != digest:
        return OtherCall()
    if row.status is not None:
        return Done(row.status, row.headers, row.body)
    return _taken_over(row, now)


def keep(mine: Mine, status: int, headers: dict[str, str], body: str) -> None:
    """Keep the answer for those who ask again."""
    _still(mine).update(status=status, headers=headers, body=body)


def give_back(mine: Mine) -> None:
    """The call was refused and made nothing: its key is free for another."""
    _still(mine).delete()


def let_go(mine: Mine) -> None:
    """The call met trouble, and nobody knows how far it came: the next try need not wait, and makes nothing twice."""
    _still(mine).update(claimed_at=mine.claimed_at - A_TRY)


def sweep(now: datetime) -> int:
    """Forget some of the answers that are older than a day; how many."""
    too_old = RepeatedCall.objects.filter(claimed_at__lte=now - KEPT).values_list("pk", flat=True)
    doomed = list(too_old[:SWEPT])
    return RepeatedCall.objects.filter(pk__in=doomed).delete()[0] if doomed else 0


def _taken_over(row: RepeatedCall, now: datetime) -> Mine | UnderWay:
    """A claim whose holder has been silent for too long goes to whoever moves its time first."""
    if now - row.claimed_at < A_TRY:
        return UnderWay()
    unchanged = RepeatedCall.objects.filter(pk=row.pk, claimed_at=row.claimed_at, status=None)
    if unchanged.update(claimed_at=now) != 1:
        return UnderWay()
    return Mine(row.pk, now, row.made_id, is_second_try=True)


def _still(mine: Mine) -> QuerySet[RepeatedCall]:
    return RepeatedCall.objects.filter(pk=mine.row, claimed_at=mine.claimed_at, status=None)
