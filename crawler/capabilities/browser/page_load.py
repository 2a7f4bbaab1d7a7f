"""How a page loaded in a browser: its further requests, the errors on its console, its Web Vitals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

import msgspec

MAX_LISTED = 300  # requests of a page that are stored one by one
MAX_URL_LENGTH = 500  # characters
MAX_MESSAGES = 50
MAX_MESSAGE_LENGTH = 300  # characters

FAILED = "failed"
"""No response, one that broke off, or a status of 400 and above."""
BLOCKED = "blocked"
"""Not sent, because the crawler did not allow it."""


class Resource(msgspec.Struct, frozen=True, omit_defaults=True):
    """One further request of a page."""

    url: str
    kind: str  # Playwright's resource type
    status: int | None = None  # None = no response
    bytes: int | None = None  # of the body on the wire, sometimes with its head; None = not known
    ms: int | None = None  # until the body was complete; None = not known
    error: str = ""  # one line; also why it was not sent
    problem: str = ""  # FAILED, BLOCKED, or "" for neither


class PageLoad(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a browser told of one page. The numbers are about all requests and errors, the lists have the first."""

    lcp_ms: int | None = None  # Largest Contentful Paint; None = not known
    cls: float | None = None  # Cumulative Layout Shift; None = not known
    console_errors: int = 0
    failed_requests: int = 0
    blocked_requests: int = 0
    resources: int = 0  # further requests of the page, those that were blocked not among them
    resource_bytes: int | None = None  # of their bodies on the wire; None = of none of them known
    console: tuple[str, ...] = ()  # MAX_MESSAGES errors
    requests: tuple[Resource, ...] = ()  # MAX_LISTED: first those that failed, last those that were blocked


def page_load(
    resources: Sequence[Resource],
    console: Sequence[str],
    vitals: Mapping[str, float],
    *,
    console_errors: int,
    more_blocked: int = 0,
) -> PageLoad:
    """The numbers, and as much of the lists as is stored. `vitals` has "lcp_ms" and "cls" as far as they are known,
    `console_errors` counts all errors, and `more_blocked` blocked requests that are not among `resources`."""
    sent = [resource for resource in resources if resource.problem != BLOCKED]
    sizes = [resource.bytes for resource in sent if resource.bytes is not None]
    listed = sorted(resources, key=lambda resource: (FAILED, "", BLOCKED).index(resource.problem))
    return PageLoad(
        lcp_ms=round(vitals["lcp_ms"]) if "lcp_ms" in vitals else None,
        cls=vitals.get("cls"),
        console_errors=console_errors,
        failed_requests=_number_of(FAILED, resources),
        blocked_requests=_number_of(BLOCKED, resources) + more_blocked,
        resources=len(sent),
        resource_bytes=sum(sizes) if sizes or not sent else None,
        console=tuple(line[:MAX_MESSAGE_LENGTH] for line in console[:MAX_MESSAGES]),
        requests=tuple(_shortened(resource) for resource in listed[:MAX_LISTED]),
    )


def _number_of(problem: str, resources: Collection[Resource]) -> int:
    return sum(resource.problem == problem for resource in resources)


def _shortened(resource: Resource) -> Resource:
    return msgspec.structs.replace(resource, url=resource.url[:MAX_URL_LENGTH])


class Rating(StrEnum):
    """Of a Web Vital, by the thresholds of https://web.dev/articles/vitals."""

    GOOD = "good"
    NEEDS_IMPROVEMENT = "needs improvement"
    POOR = "poor"


THRESHOLDS: dict[str, tuple[float, float]] = {"lcp_ms": (2500, 4000), "cls": (0.1, 0.25)}
"""Vital -> the largest value that is good, and the largest that is not poor."""


def rating(vital: str, value: float) -> Rating:
    good, not_poor = THRESHOLDS[vital]
    if value <= good:
        return Rating.GOOD
    return Rating.NEEDS_IMPROVEMENT if value <= not_poor else Rating.POOR
