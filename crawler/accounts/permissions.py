"""Which crawls, schedules and channels a user may see, and what they may do with one. No other module decides that.

`core.access.permissions` has the rule; the querysets here select the rows that it lets the user see.
"""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser, Group, User
from django.db.models import Q, QuerySet

from crawler import conf
from crawler.core.access import permissions
from crawler.core.access.permissions import Relation, Right
from crawler.core.access.reach import Namer, private_hosts_for
from crawler.core.errors import BadInput
from crawler.core.urls.addresses import EVERYTHING, parse_private_hosts
from crawler.models import Channel, Crawl, Schedule

AnyUser = User | AnonymousUser
Owned = TypeVar("Owned", Crawl, Schedule)


def visible_crawls(user: AnyUser) -> QuerySet[Crawl]:
    """The user's own crawls, and those shared with their groups; all for staff and superusers."""
    return _visible(Crawl.objects.all(), user)


def controlled_crawls(user: AnyUser) -> QuerySet[Crawl]:
    """Those for which the user has `Right.CONTROL`."""
    crawls = visible_crawls(user)
    if user.is_superuser or not user.is_active:
        return crawls
    return crawls.filter(Q(owner=user.pk) | Q(group__in=_own_groups(user), group_controls=True))


def visible_schedules(user: AnyUser) -> QuerySet[Schedule]:
    """The same of schedules."""
    return _visible(Schedule.objects.all(), user)


def own_channels(user: AnyUser) -> QuerySet[Channel]:
    """The user's notice channels. No other user sees them, not even a superuser: an address may be secret."""
    return Channel.objects.filter(owner=user.pk) if user.pk is not None and user.is_active else Channel.objects.none()


def rights_of(user: AnyUser, item: Crawl | Schedule) -> frozenset[Right]:
    """What the user may do with a crawl or a schedule."""
    standing = _standing(user, item)
    return frozenset(right for right in Right if permissions.may(standing, right))


def may(user: AnyUser, right: Right, item: Crawl | Schedule) -> bool:
    """Whether the user has this right."""
    return right in rights_of(user, item)


def sees_addresses(user: AnyUser, item: Crawl | Schedule) -> bool:
    """Whether the user sees the receivers of a crawl or schedule in full, and may use these and its credentials again.
    Its owner may; superusers may if it has no owner (made on the command line, or its owner was deleted)."""
    if not user.is_active:
        return False
    return user.is_superuser if item.owner_id is None else item.owner_id == user.pk


def namer(user: AnyUser, item: Crawl | Schedule) -> Namer:
    """The user as one who names URLs for this crawl or schedule."""
    return Namer(
        may_allow_private=user.is_active and user.is_superuser,
        is_owner=item.owner_id is not None and item.owner_id == user.pk,
    )


def check_private(user: User | None, *, allow_private: bool) -> None:
    """BadInput if this user would allow addresses that are not public; None = the operator, who may."""
    if allow_private and user is not None and not (user.is_active and user.is_superuser):
        raise BadInput("allow_private", "Only a superuser can allow private addresses; leave it out.")


def private_hosts_of(crawl: Crawl, *, public_only: bool = False) -> tuple[str, ...]:
    """The private addresses that a crawl may request now; `public_only`: for pages that a user added who may not allow
    any. Permissions change: an owner who is no superuser any more reaches the installation's hosts only."""
    of_crawl = crawl.chosen.private_hosts
    if EVERYTHING not in of_crawl:
        return of_crawl
    may_allow = not public_only and (crawl.owner is None or (crawl.owner.is_active and crawl.owner.is_superuser))
    return private_hosts_for(Namer(may_allow), of_crawl, installation_hosts())


def installation_hosts() -> tuple[str, ...]:
    """The private addresses that every user may request, by CRAWLER_PRIVATE_HOSTS."""
    return parse_private_hosts(conf.private_hosts())


def groups_of(user: AnyUser) -> QuerySet[Group]:
    """The groups a user may share with: their own; for superusers all."""
    groups = Group.objects.order_by("name")
    if user.pk is None:
        return groups.none()
    return groups if user.is_superuser else groups.filter(user=user.pk)


def _visible(rows: QuerySet[Owned], user: AnyUser) -> QuerySet[Owned]:
    if not user.is_active:
        return rows.none()
    if user.is_superuser or user.is_staff:
        return rows
    return rows.filter(Q(owner=user.pk) | Q(group__in=_own_groups(user)))


def _own_groups(user: AnyUser) -> QuerySet[Group, Any]:
    return Group.objects.filter(user=user.pk).values("pk")


def _standing(user: AnyUser, item: Crawl | Schedule) -> Relation:
    if not user.is_active:
        return Relation()
    return Relation(
        is_owner=item.owner_id is not None and item.owner_id == user.pk,
        is_superuser=user.is_superuser,
        is_staff=user.is_staff,
        is_member=item.group_id is not None and user.groups.filter(pk=item.group_id).exists(),
        members_control=item.group_controls,
    )
