"""People and groups: the least each test needs, the rest by name."""

from __future__ import annotations

from django.contrib.auth.models import Group, User

from crawler.models import Allowance


def a_group(name: str = "editors", *members: User) -> Group:
    group, _ = Group.objects.get_or_create(name=name)
    group.user_set.add(*members)
    return group


def an_allowance(user: User, **limits: int | None) -> Allowance:
    return Allowance.objects.create(user=user, **limits)
