"""The audit log: who did what, written in the transaction of the action itself; entries are never changed.

Each entry point sets the actor once (`acting`); the functions it calls only record the action (`note`). Actions without
a user (the clock, a worker) are by "system". No secret is recorded: no addresses of notices, of a password only that it
changed, of a crawl's URL only the host.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
from django.db.models import Model

from crawler.models import AuditEntry, Crawl, Schedule

WEB, API, COMMAND, SYSTEM = "web", "api", "command", "system"
DELETE_ROWS_PER_CALL = 2000


class Person(Protocol):
    """An account, or an anonymous user."""

    pk: Any

    def get_username(self) -> str: ...


class Actor(msgspec.Struct, frozen=True):
    """The actor of the following actions."""

    via: str
    address: str = ""  # of the client; "" = unknown, or this machine
    who: Callable[[], tuple[Person | None, int | None]] | None = None  # the present user and token
    name: str = ""  # of an actor without an account


_SYSTEM_ACTOR = Actor(SYSTEM)
_acting: ContextVar[Actor] = ContextVar("acting", default=_SYSTEM_ACTOR)


@contextmanager
def acting(who: Actor) -> Iterator[None]:
    """Actions in this context are by this actor."""
    token = _acting.set(who)
    try:
        yield
    finally:
        _acting.reset(token)


def as_system() -> Any:
    """Actions in this context were due, and not requested by a user."""
    return acting(_SYSTEM_ACTOR)


def address() -> str:
    """The actor's address; "" = unknown, or this machine."""
    return _acting.get().address


def by_command() -> Any:
    """Actions in this context are by the user of this machine who runs the command."""
    return acting(Actor(COMMAND, name=os_user()))


def note(
    act: str,
    item: Model | None = None,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    by: Person | None = None,
    kind: str = "",
    key: str = "",
    name: str = "",
) -> None:
    """Write one entry: the action, the item, and its values before and after. `by` is for actions that identify the
    user, such as a login."""
    now = _acting.get()
    person, token = (by, None) if by is not None else now.who() if now.who else (None, None)
    AuditEntry.objects.create(
        act=act,
        actor_id=person.pk if person is not None else None,
        actor=person.get_username()[:150] if person is not None else now.name[:150],
        token_id=token,
        via=now.via,
        address=now.address[:45],
        kind=kind or (item._meta.model_name or "" if item is not None else ""),
        key=key or (str(item.pk) if item is not None else ""),
        name=(name or _name_of(item))[:200],
        before=dict(before) if before else None,
        after=dict(after) if after else None,
    )


def forget_before(moment: datetime) -> int:
    """Delete some of the entries before this moment; returns how many. Entries are deleted in no other way."""
    old = AuditEntry.objects.filter(at__lt=moment).order_by("pk").values_list("pk", flat=True)[:DELETE_ROWS_PER_CALL]
    entries = AuditEntry.objects.filter(pk__in=list(old))
    return entries._raw_delete(entries.db)


@cache
def os_user() -> str:
    """The user that runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run it under a number that has no name
        return ""


def _name_of(item: Model | None) -> str:
    """The item's name for users, without secrets: URLs may contain passwords and tokens."""
    if item is None:
        return ""
    if isinstance(item, Crawl | Schedule):
        return getattr(item, "source", "") or host_of(item.start_urls)
    return str(getattr(item, "username", "") or getattr(item, "name", ""))


def host_of(urls: list[str]) -> str:
    try:
        return urlsplit(urls[0]).hostname or ""
    except (ValueError, IndexError):
        return ""
