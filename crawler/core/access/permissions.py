"""Rights on crawls and schedules, and the scopes of API tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import assert_never

import msgspec

from crawler.core.errors import BadInput


class Right(StrEnum):
    """A right on a crawl or a schedule."""

    SEE = "see"  # see it, its pages and reports, and download them
    CONTROL = "control"  # pause, resume, cancel, retry dead letters, release traps
    OWN = "own"  # delete it, share it, keep it


class Relation(msgspec.Struct, frozen=True):
    """The relation of a user to one crawl or schedule."""

    is_owner: bool = False
    is_superuser: bool = False
    is_staff: bool = False
    is_member: bool = False  # of the group it is shared with
    members_control: bool = False  # the group's members may control it


def may(standing: Relation, right: Right) -> bool:
    """Owners and superusers may do everything; staff see everything; members see, and control if allowed."""
    if standing.is_owner or standing.is_superuser:
        return True
    match right:
        case Right.SEE:
            return standing.is_staff or standing.is_member
        case Right.CONTROL:
            return standing.is_member and standing.members_control
        case Right.OWN:
            return False
    assert_never(right)


# The scopes of API tokens.


class Scope(StrEnum):
    """One permission of a token. A token never has more rights than its user."""

    CRAWLS_READ = "crawls:read"  # see crawls, their pages, reports and exports
    CRAWLS_WRITE = "crawls:write"  # start, pause, resume, cancel, share and keep crawls; send pages and notices again
    CRAWLS_DELETE = "crawls:delete"  # delete crawls with all their pages
    SCHEDULES_READ = "schedules:read"  # see schedules
    SCHEDULES_WRITE = "schedules:write"  # make, pause, resume and remove schedules
    CHANNELS_READ = "channels:read"  # see notice channels, secret addresses masked
    CHANNELS_WRITE = "channels:write"  # add, change, pause, resume, remove and test channels
    TOKENS_READ = "tokens:read"  # see tokens, never a secret
    TOKENS_WRITE = "tokens:write"  # revoke tokens
    SCALE_READ = "scale:read"  # see how many workers would be useful


ALL_SCOPES = frozenset(Scope)
DEFAULT_SCOPES = (Scope.CRAWLS_READ, Scope.CRAWLS_WRITE)
"""The scopes of a new token by default."""


def checked(names: Iterable[str]) -> tuple[Scope, ...]:
    """The scopes of these names, each once and in order; BadInput ("scopes") for another name or none."""
    given = set(names)
    unknown = sorted(given - set(Scope))
    if unknown:
        raise BadInput("scopes", f"Unknown scope {unknown[0]!r}; choose from {', '.join(Scope)}.")
    if not given:
        raise BadInput("scopes", "Choose at least one permission for the token.")
    return tuple(scope for scope in Scope if scope in given)


def held(names: Collection[str]) -> frozenset[Scope]:
    """The scopes a stored token has. A name of another version allows nothing."""
    return frozenset(scope for scope in Scope if scope in names)
