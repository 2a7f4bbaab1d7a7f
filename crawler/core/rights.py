"""Who may do what with a crawl or a schedule: one rule for pages, lists, buttons and the API."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never


class Right(StrEnum):
    """What somebody wants to do."""

    SEE = "see"  # look at it, its pages and reports, and download them
    CONTROL = "control"  # pause, resume, cancel, send dead letters again, release traps
    OWN = "own"  # delete it, share it, keep it


NOT_ACTIVE = (
    "The account this schedule belongs to is not active. A superuser can activate it again, or remove the schedule."
)
NOT_PUBLIC = (
    "It allows addresses that are not public, which superusers alone may, and its owner is none by now. "
    "Remove it, and let a superuser make it anew; or make it without them."
)


@dataclass(frozen=True)
class Standing:
    """How a person stands to one crawl or schedule."""

    is_owner: bool = False
    is_superuser: bool = False
    is_staff: bool = False
    is_member: bool = False  # of the group it is shared with
    members_control: bool = False  # the group's members may do more than look


def may(standing: Standing, right: Right) -> bool:
    """Owners and superusers may do everything; staff look at everything; members look, and control if they were let."""
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


def why_not_again(*, is_active: bool, is_superuser: bool, every_address: bool) -> str:
    """Why a schedule begins nothing more, by what its owner is by now; "" = it does."""
    if not is_active:
        return NOT_ACTIVE
    return NOT_PUBLIC if every_address and not is_superuser else ""
