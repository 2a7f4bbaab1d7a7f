"""Who is told of something that happens to a crawl: those it was started with, and the channels of its owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from crawler.core.errors import SealBroken
from crawler.core.events import Event
from crawler.core.options import RECEIVERS, CrawlOptions
from crawler.core.receivers import Means
from crawler.models import Channel, Crawl
from crawler.sealing import opened_address


@dataclass(frozen=True, slots=True)
class Addressed:
    """One place a notice goes to."""

    means: Means
    stored: str  # the address as tables hold it
    channel: UUID | None = None  # of the account; None = the crawl was started with it


def receivers_of(crawl: Crawl, event: Event) -> list[Addressed]:
    """Each place once, whether the crawl names it, a channel does, or both."""
    found: dict[tuple[Means, str], Addressed] = {}
    for to in (*_of_options(crawl.chosen, event), *_of_account(crawl, event)):
        found.setdefault((to.means, _in_plain(to.stored)), to)
    return list(found.values())


def _of_options(options: CrawlOptions, event: Event) -> Iterator[Addressed]:
    if event not in options.notify_events:
        return
    for means, field in RECEIVERS.items():
        if event is Event.PAGE and means is not Means.WEBHOOK:
            continue  # a crawl has thousands; they are for programs
        yield from (Addressed(means, address) for address in getattr(options, field))


def _of_account(crawl: Crawl, event: Event) -> Iterator[Addressed]:
    """Pages are asked for crawl by crawl: nobody who adds a channel means a million of them."""
    if crawl.owner_id is None or event is Event.PAGE:
        return
    for channel in Channel.objects.filter(owner=crawl.owner_id, enabled=True).order_by("created_at"):
        if event in channel.events:
            yield Addressed(Means(channel.transport), channel.address, channel.id)


def _in_plain(stored: str) -> str:
    with suppress(SealBroken):  # then nobody knows whether it is another one; trying to send to it says so
        return opened_address(stored)
    return stored
