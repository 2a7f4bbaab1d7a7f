"""How a page is written in a queue: so that pages due at the same time sort by priority, then in order of discovery."""

from __future__ import annotations

from crawler.core.work import USUAL_PRIORITY

_LEAST = 10  # the most urgent priority, which sorts first


def member_of(page: int, priority: int = USUAL_PRIORITY) -> str:
    """Redis sorts members of equal score as text, so both numbers have one width."""
    return f"{_LEAST - priority:x}{page:014d}"


def page_of(member: str | bytes) -> int:
    return int(member[1:])
