"""The record of who did what: written in the transaction of the deed itself, added to and never changed.

Whoever opens a door says once who comes in by it (`acting`); the verbs behind it only say what was done (`note`). What
nobody stands behind (a clock, a worker) is done by "system". No secret goes in here: addresses of notices stay out, of
a password only that there is another, and of a crawl's URL the host.
"""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.db.models import Model

from crawler.models import AuditEntry, Crawl, Schedule

WEB, API, COMMAND, SYSTEM = "web", "api", "command", "system"
SWEPT = 2000  # rows deleted in one go


class Person(Protocol):
    """An account, or a visitor who has none."""

    pk: Any

    def get_username(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Acting:
    """Who does what is done from now on."""

    via: str
    address: str = ""  # where they come from; "" = not known, or this machine
    who: Callable[[], tuple[Person | None, int | None]] | None = None  # the person and their token, by now
    name: str = ""  # of somebody who has no account here


_NOBODY = Acting(SYSTEM)
_acting: ContextVar[Acting] = ContextVar("acting", default=_NOBODY)


@contextmanager
def acting(who: Acting) -> Iterator[None]:
    """What is noted meanwhile was done by them."""
    token = _acting.set(who)
    try:
        yield
    finally:
        _acting.reset(token)


def as_system() -> Any:
    """What is noted meanwhile nobody asked for: it was due, and whoever came by did it."""
    return acting(_NOBODY)


def address() -> str:
    """Where whoever acts comes from; "" = not known, or this machine."""
    return _acting.get().address


def by_command() -> Any:
    """What is noted meanwhile somebody does on the command line, of whom we know their name on this machine."""
    return acting(Acting(COMMAND, name=os_user()))


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
    """Write one entry: what was done, to what, and what it was before and after. `by` is for a door at which somebody
    becomes a person only by this very deed."""
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
    """Forget some of what was written before; how many entries. The only way by which one goes."""
    old = AuditEntry.objects.filter(at__lt=moment).order_by("pk").values_list("pk", flat=True)[:SWEPT]
    doomed = AuditEntry.objects.filter(pk__in=list(old))
    return doomed._raw_delete(doomed.db)


@cache
def os_user() -> str:
    """Whose process this is."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may run it under a number that has no name
        return ""


def _name_of(item: Model | None) -> str:
    """How people know it, without what may be secret: URLs can have passwords and tokens in them."""
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
