"""How much a person may crawl, and how much they have."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.models import User

from crawler import conf
from crawler.core.access.quotas import NO_LIMIT, Quota, Used, check_start, pages_left, quota_of
from crawler.core.crawl.completion import State
from crawler.models import NOT_OVER, Crawl
from crawler.storage import sql


def quota(user: int) -> Quota:
    """What the person with this key may have: by their allowance, else by the settings. Somebody who was just deleted
    has no limit, like nobody."""
    facts = User.objects.filter(pk=user).values_list(
        "is_superuser", "allowance__active_crawls", "allowance__pages_a_day"
    )
    found = facts.first()
    if found is None:
        return NO_LIMIT
    is_superuser, active_crawls, pages_a_day = found
    usual = Quota(conf.active_crawls(), conf.pages_a_day())
    return quota_of(usual, active_crawls, pages_a_day, is_superuser=is_superuser)


def used(user: int, now: datetime) -> Used:
    """What they have."""
    active = Crawl.objects.filter(owner=user, state__in=NOT_OVER).count()
    return Used(active, sql.pages_on(user, now.astimezone(UTC).date()))


def check(user: User | None, now: datetime) -> None:
    """OverQuota unless this person may begin another crawl; crawls that belong to nobody have no limit."""
    if user is None:
        return
    limits = quota(user.pk)
    if limits.active_crawls or limits.pages_a_day:
        check_start(limits, used(user.pk, now), now)


def claim(user: User | None, now: datetime) -> None:
    """The same in the transaction that begins the crawl. The account's row is locked until its end, so of two crawls
    begun at one moment the second counts the first."""
    if user is not None:
        User.objects.select_for_update(no_key=True).filter(pk=user.pk).first()  # ticks may count pages meanwhile
        check(user, now)


def left(user: int, now: datetime) -> int | None:
    """How many pages their crawls may ask for today; None = no limit."""
    limits = quota(user)
    if not limits.pages_a_day:
        return None
    return pages_left(limits, Used(0, sql.pages_on(user, now.astimezone(UTC).date())))


def share(user: int, now: datetime) -> int | None:
    """Of those the share of each of their crawls that run."""
    pages = left(user, now)
    if pages is None:
        return None
    return pages // max(1, Crawl.objects.filter(owner=user, state=State.RUNNING).count())


def has_left(user: int, now: datetime) -> bool:
    """Whether their crawls may ask for another page today."""
    return left(user, now) != 0
