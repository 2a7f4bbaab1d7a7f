"""How much a user may crawl, and how much they have used."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.db.models import Sum

from crawler import conf
from crawler.core.access.quotas import (
    NO_LIMIT,
    RETRY_AFTER_S,
    Quota,
    QuotaUse,
    StorageExhausted,
    StorageUse,
    check_start,
    pages_left,
    quota_of,
    storage_exhausted,
)
from crawler.core.errors import OverQuota
from crawler.core.protocol.completion import State
from crawler.core.text.quantities import count, counted
from crawler.models import NOT_OVER, Crawl
from crawler.storage import sql


def quota(user: int) -> Quota:
    """The quota of the user with this key: from their allowance, else from the settings; none if the user was
    deleted."""
    facts = User.objects.filter(pk=user).values_list(
        "is_superuser",
        "allowance__active_crawls",
        "allowance__pages_a_day",
        "allowance__stored_pages",
        "allowance__stored_mb",
    )
    found = facts.first()
    if found is None:
        return NO_LIMIT
    is_superuser, *own = found
    usual = Quota(conf.active_crawls(), conf.pages_a_day(), conf.stored_pages(), conf.stored_mb())
    return quota_of(usual, *own, is_superuser=is_superuser)


def used(user: int, now: datetime) -> QuotaUse:
    """What the user has used."""
    active = Crawl.objects.filter(owner=user, state__in=NOT_OVER).count()
    return QuotaUse(active, sql.pages_on(user, now.astimezone(UTC).date()), stored(user))


def stored(user: int) -> StorageUse:
    """What the user's crawls store, by the counters of their rows."""
    sums = Crawl.objects.filter(owner=user).aggregate(pages=Sum("discovered"), kept=Sum("kept_bytes"))
    return StorageUse(sums["pages"] or 0, sums["kept"] or 0)


def check(user: User | None, now: datetime) -> None:
    """OverQuota unless the user may start another crawl; crawls without an owner have no limit."""
    if user is None:
        return
    limits = quota(user.pk)
    if limits != NO_LIMIT:
        has = used(user.pk, now)
        check_start(limits, has, now)
        _refuse(storage_exhausted(limits, has.stored), "your")


def claim(user: User | None, now: datetime) -> None:
    """The same in the transaction that starts the crawl. It locks the account's row until its end, so that of two
    concurrent starts the second counts the first."""
    if user is not None:
        User.objects.select_for_update(no_key=True).filter(pk=user.pk).first()  # ticks may count pages meanwhile
        check(user, now)


def check_room(user: int | None, whose: str = "your") -> None:
    """OverQuota unless the user's crawls may store more. `whose`: "your", "its owner's"."""
    _refuse(_exhausted(user), whose)


def no_room(user: int | None) -> str:
    """Why the user's crawls may store no more, for all who see them; "" = they may."""
    reached = _exhausted(user)
    return "" if reached is None else _exhausted_text(reached, "its owner's")


def _exhausted(user: int | None) -> StorageExhausted | None:
    limits = NO_LIMIT if user is None else quota(user)
    if user is None or not (limits.stored_pages or limits.stored_mb):
        return None
    return storage_exhausted(limits, stored(user))


def _refuse(reached: StorageExhausted | None, whose: str) -> None:
    if reached is not None:
        why = _exhausted_text(reached, whose)
        raise OverQuota(f"{why[0].upper()}{why[1:]}.", retry_after=RETRY_AFTER_S)


def _exhausted_text(reached: StorageExhausted, whose: str) -> str:
    """Which limit was reached, and what to do."""
    if reached.of_content:
        what = f"keep {count(reached.used)} MB of content, and may keep {count(reached.allowed)} MB"
    else:
        what = f"store {counted(reached.used, 'page')}, and may store {count(reached.allowed)}"
    return f"{whose} crawls {what}; delete some of these crawls to make room"


def left(user: int, now: datetime) -> int | None:
    """How many pages the user's crawls may still request today; None = no limit."""
    limits = quota(user)
    if not limits.pages_a_day:
        return None
    return pages_left(limits, QuotaUse(0, sql.pages_on(user, now.astimezone(UTC).date())))


def share(user: int, now: datetime) -> int | None:
    """The share of these for each of the user's running crawls."""
    pages = left(user, now)
    if pages is None:
        return None
    return pages // max(1, Crawl.objects.filter(owner=user, state=State.RUNNING).count())


def has_left(user: int, now: datetime) -> bool:
    """Whether the user's crawls may request another page today."""
    return left(user, now) != 0
