"""Which crawls, schedules and channels a person may see, and what they may do with one. No other module decides that.

`core.access.permissions` has the rule; the lists below are the rows for which it lets somebody look.
"""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser, Group, User
from django.db.models import Q, QuerySet

from crawler.core.access import permissions
from crawler.core.access.permissions import Right, Standing
from crawler.models import Channel, Crawl, Schedule

Anybody = User | AnonymousUser
Owned = TypeVar("Owned", Crawl, Schedule)


def visible_crawls(user: Anybody) -> QuerySet[Crawl]:
    """Their own, and those shared with a group they are in; staff and superusers see all."""
    return _visible(Crawl.objects.all(), user)


def visible_schedules(user: Anybody) -> QuerySet[Schedule]:
    """The same of schedules."""
    return _visible(Schedule.objects.all(), user)


def own_channels(user: Anybody) -> QuerySet[Channel]:
    """Where somebody is told of their crawls. Nobody sees another's, not even a superuser: an address may be secret."""
    return Channel.objects.filter(owner=user.pk) if user.pk is not None and user.is_active else Channel.objects.none()


def rights_of(user: Anybody, item: Crawl | Schedule) -> frozenset[Right]:
    """What this person may do with a crawl or a schedule."""
    standing = _standing(user, item)
    return frozenset(right for right in Right if permissions.may(standing, right))


def may(user: Anybody, right: Right, item: Crawl | Schedule) -> bool:
    """Whether they may do this."""
    return right in rights_of(user, item)


def sees_addresses(user: Anybody, item: Crawl | Schedule) -> bool:
    """Whether somebody sees in full whom a crawl or a schedule tells, and may use that, and what it sends to sign in,
    once more. Its owner may; where it belongs to nobody (it was made on the command line, or left by a person who was
    deleted) superusers."""
    if not user.is_active:
        return False
    return user.is_superuser if item.owner_id is None else item.owner_id == user.pk


def groups_of(user: Anybody) -> QuerySet[Group]:
    """The groups a person may share with: those they are in; superusers all."""
    groups = Group.objects.order_by("name")
    if user.pk is None:
        return groups.none()
    return groups if user.is_superuser else groups.filter(user=user.pk)


def _visible(rows: QuerySet[Owned], user: Anybody) -> QuerySet[Owned]:
    if not user.is_active:
        return rows.none()
    if user.is_superuser or user.is_staff:
        return rows
    return rows.filter(Q(owner=user.pk) | Q(group__in=Group.objects.filter(user=user.pk).values("pk")))


def _standing(user: Anybody, item: Crawl | Schedule) -> Standing:
    if not user.is_active:
        return Standing()
    return Standing(
        is_owner=item.owner_id is not None and item.owner_id == user.pk,
        is_superuser=user.is_superuser,
        is_staff=user.is_staff,
        is_member=item.group_id is not None and user.groups.filter(pk=item.group_id).exists(),
        members_control=item.group_controls,
    )
