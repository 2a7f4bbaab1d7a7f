"""One try of one delivery: what is sent, by which transport, and which addresses may be asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from crawler import conf
from crawler.core.addresses import is_public, parse_private_hosts
from crawler.core.errors import SealBroken
from crawler.core.events import Event
from crawler.core.receivers import Means
from crawler.core.urls import host_and_port
from crawler.engine.fetchers import gateway_of
from crawler.engine.guards import guard_of
from crawler.exports.rows import page_rows
from crawler.fetching.fetcher import Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.fetching.routes import Gateway
from crawler.fetching.trouble import FetchTrouble
from crawler.models import Delivery, Notice
from crawler.notify import discord, email, slack, webhook
from crawler.notify.transport import Message, TransportError
from crawler.reports import notice_words, words
from crawler.sealing import opened_address

SEAL_BROKEN = "its address cannot be read, because SECRET_KEY is not the one it was stored under"


def deliver(delivery: Delivery, limits: Limits | None = None) -> str:
    """What the receiver said when it took the notice, in a line; TransportError when it did not."""
    try:
        address = opened_address(delivery.address)
    except SealBroken as error:
        raise TransportError(SEAL_BROKEN, permanent=False) from error
    return send(message_of(delivery), delivery.transport, address, allowed_hosts(delivery), limits)


def send(
    message: Message, transport: str, address: str, private_hosts: Sequence[str], limits: Limits | None = None
) -> str:
    """Hand a message to a transport."""
    match transport:
        case Means.EMAIL:
            return email.send(message, address)
        case Means.WEBHOOK:
            with _poster(address, private_hosts, limits) as poster:
                return webhook.send(message, address, secret=conf.webhook_secret(), poster=poster)
        case Means.SLACK:
            with _poster(address, private_hosts, limits) as poster:
                return slack.send(message, address, poster=poster)
        case Means.DISCORD:
            with _poster(address, private_hosts, limits) as poster:
                return discord.send(message, address, poster=poster)
        case unknown:
            raise TransportError(f"there is no way to send by {unknown!r}", permanent=True)


def message_of(delivery: Delivery) -> Message:
    """What a delivery says. A notice of pages tells what the table holds of them now, without those that were opened
    again: they are told of when they close."""
    notice = delivery.notice
    event, crawl = Event(notice.event), notice.crawl
    about = f"{conf.base_url()}/crawls/{crawl.id}/"
    sentence = notice_words.sentence(crawl, event, notice.receipt)
    return Message(
        id=str(delivery.id),
        event=notice.event,
        crawl=str(crawl.id),
        receipt=notice.receipt,
        subject=f"Crawl {notice_words.event_word(event)}: {crawl.site}",
        text=_text(sentence, notice.receipt, about),
        notice=str(notice.id),
        round=notice.round,
        number=notice.number,
        at=notice.created_at.isoformat(timespec="milliseconds"),
        pages=page_rows(crawl, notice.pages) if event is Event.PAGE else None,
        sentence=sentence,
        figures=notice_words.figures(notice.receipt) if notice.receipt else (),
        link=about,
    )


def close(notice: Notice) -> None:
    """No further pages go into this notice from now on: somebody is about to be sent it."""
    if notice.gathering:
        mine = Notice.objects.filter(id=notice.id)
        mine.update(gathering=False)
        notice.pages = mine.values_list("pages", flat=True).first() or []  # none: its crawl was deleted meanwhile


def allowed_hosts(delivery: Delivery) -> tuple[str, ...]:
    """Which addresses that are not public may be asked. What a channel may ask is no matter of the crawl."""
    if delivery.channel_id is None:
        return delivery.notice.crawl.chosen.private_hosts
    return hosts_of_channels()


def hosts_of_channels() -> tuple[str, ...]:
    return parse_private_hosts(conf.private_hosts())


def _poster(address: str, private_hosts: Sequence[str], limits: Limits | None) -> AbstractContextManager[HttpFetcher]:
    guard = guard_of(private_hosts)
    return HttpFetcher(guard, conf.user_agent(), limits, gateway=_way_to(address, guard))


def _way_to(address: str, guard: Guard) -> Gateway | None:
    """Through the operator's proxy, except to a receiver in this network: a proxy need not know it, or takes it for
    another. Only the way is chosen here; the guard judges the address once more where it is connected to."""
    gateway = gateway_of(None, guard)
    if gateway is None:
        return None
    try:
        endpoints = guard.resolve(*host_and_port(address))
    except (FetchTrouble, ValueError):
        return gateway  # it will be said what is wrong when it is asked
    return gateway if all(is_public(str(endpoint.sockaddr[0])) for endpoint in endpoints) else None


def _text(sentence: str, receipt: Mapping[str, Any], about: str) -> str:
    """The notice for people."""
    table = f"{words.receipt_table(receipt)}\n" if receipt else ""
    return f"{sentence}\n\n{table}{about}\n"
