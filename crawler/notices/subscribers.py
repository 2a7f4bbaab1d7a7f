"""What capabilities do after a crawl has closed pages, or ended: deliveries of the outbox, like notices, so that each
is made at least once. Users do not see them among their notices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import msgspec

from crawler import registry
from crawler.core.options.events import Event
from crawler.models import Delivery


class Subscriber(msgspec.Struct, frozen=True):
    """One capability's."""

    transport: str  # of its deliveries

    addresses: Callable[[Event], Iterable[str]]
    """Those that get a delivery of this event."""

    deliver: Callable[[Delivery], str | None]
    """Returns what was done in one line, or None if some of it is left for another attempt. Raises TransportError."""

    left: Callable[[str], str]
    """Address -> what `bin/crawl` says when it ends before such a delivery is made."""


@cache
def subscribers() -> tuple[Subscriber, ...]:
    return registry.entries("subscribers", Subscriber)
