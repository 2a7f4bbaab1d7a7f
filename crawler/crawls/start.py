"""Starts a crawl: judge what a person typed, insert the rows, wake the manager. All of it or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from redis.exceptions import RedisError

from crawler import clock, conf, encryption
from crawler.accounts import audit, quotas
from crawler.core.crawl.notices import USUAL, Event, Means, chosen_events, is_secret
from crawler.core.crawl.options import MAY_BE_SECRET, RECEIVERS, CrawlOptions, check_options
from crawler.core.errors import BadInput, SealBroken, ServiceDown
from crawler.core.installation.backpressure import because, remedy
from crawler.core.sitemaps.entries import to_begin_with
from crawler.core.urls.addresses import Proxy, parse_private_hosts
from crawler.core.urls.normalise import from_person
from crawler.crashpoints import crash_point
from crawler.crawls.holds import shortage_of
from crawler.frontier.frontier import Frontier
from crawler.http.guard import Guard
from crawler.http.guards import check_host, check_web_address, guard_of
from crawler.models import Crawl
from crawler.notices.outbox import send_out, tell
from crawler.queueing import queues
from crawler.queueing.wakeups import keep_watch, wake
from crawler.storage import writer

EVERY_ADDRESS = "*"


def start_crawl(
    references: Sequence[str],
    options: CrawlOptions,
    *,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    crawl_id: UUID | None = None,
) -> Crawl:
    """A running crawl over these URLs, written as a person writes them ("example.com/docs" will do). `sealed` is what
    it sends beside them: `encryption.seal(credentials.parse(...))`, or what an earlier crawl has. `crawl_id` is for
    whoever may be asked twice, and chooses it beforehand: there are never two with one id.

    Raises BadInput (a URL, option or address that cannot be used; RefusedAddress and OverQuota among them) and
    ServiceDown (Redis or the database does not answer). Then nothing was made.
    """
    crawl = drafted(references, options, owner=owner, allow_private=allow_private, sealed=sealed)
    crawl.id = crawl_id or crawl.id
    with services_needed():
        queues.connection().ping()
        with transaction.atomic():
            insert(crawl)
    crash_point("start: committed")
    try:
        set_going(crawl)
    except RedisError as error:
        _undo(crawl)
        raise ServiceDown(_nothing_started(error, "Redis went away")) from error
    crawl.refresh_from_db()
    return crawl


def drafted(
    references: Sequence[str],
    options: CrawlOptions,
    *,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
) -> Crawl:
    """A crawl over these URLs that is in no table yet; BadInput when it cannot be begun."""
    start_urls = list(dict.fromkeys(from_person(reference) for reference in references))
    if not start_urls:
        raise BadInput("start_urls", "Give at least one URL to start from, such as https://example.com/.")
    options = judged(options, allow_private=allow_private)
    sitemap_urls = tuple(dict.fromkeys(from_person(reference) for reference in options.sitemap_urls))
    options = msgspec.structs.replace(options, sitemap_urls=sitemap_urls)
    guard = guard_of(options.private_hosts)
    for url in start_urls:
        check_web_address(guard, url, "start_urls")
    for url in options.sitemap_urls:
        check_web_address(guard, url, "sitemap_urls")
    check_sealed(guard, sealed)
    return Crawl(start_urls=start_urls, options=options.to_plain(), owner=owner, sealed=sealed)


def check_sealed(guard: Guard, sealed: str) -> None:
    """BadInput when the credentials cannot be read, or the proxy among them may not be asked."""
    try:
        proxy = encryption.opened(sealed).proxy
    except SealBroken as error:
        raise BadInput("credentials", str(error)) from None
    if proxy is not None:
        where = Proxy.parse(proxy)
        check_host(guard, where.host, where.port, f"The proxy {where}", "proxy")


def insert(crawl: Crawl) -> None:
    """Insert a drafted crawl and its first pages, in the transaction that is open; OverQuota when its owner may not
    have another."""
    quotas.claim(crawl.owner, clock.now())
    crawl.save()
    writer.open_start_pages(
        crawl, crawl.start_urls, clock.epoch_seconds(), to_begin_with(crawl.start_urls, crawl.chosen)
    )
    tell(crawl, Event.STARTED)
    note_start(crawl)
    crash_point("start: rows inserted")


def note_start(crawl: Crawl) -> None:
    """In the audit log, in the transaction that begins it."""
    after: dict[str, object] = {"start_urls": len(crawl.start_urls), "signs_in": bool(crawl.sealed)}
    if EVERY_ADDRESS in crawl.chosen.private_hosts:
        after["allow_private"] = True
    if crawl.schedule_id is not None:
        after["schedule"] = str(crawl.schedule_id)
    audit.note("crawl.started", crawl, after=after)


def _undo(crawl: Crawl) -> None:
    with transaction.atomic():
        audit.note("crawl.not_started", crawl)
        crawl.delete()


def set_going(crawl: Crawl) -> None:
    """Wake the manager of a crawl that is committed. Should that fail, whoever reconciles does it."""
    wake(Frontier(queues.connection(), str(crawl.id)), crawl.site)
    keep_watch()
    send_out(crawl)


def judged(options: CrawlOptions, *, allow_private: bool) -> CrawlOptions:
    """The options as a crawl keeps them, with the addresses it may ask; BadInput when one cannot be used."""
    check_options(options)
    allowed = (EVERY_ADDRESS,) if allow_private else parse_private_hosts(conf.private_hosts())
    return msgspec.structs.replace(
        options,
        private_hosts=allowed,
        notify_events=chosen_events("notify_events", options.notify_events) or USUAL,
        **{
            field: _sealed(guard_of(allowed), means, getattr(options, field), field)
            for means, field in RECEIVERS.items()
            if field in MAY_BE_SECRET
        },
    )


def _sealed(guard: Guard, means: Means, addresses: Sequence[str], field: str) -> tuple[str, ...]:
    """Web addresses as a crawl's row keeps them: encrypted."""
    try:
        for address in addresses:
            check_web_address(guard, encryption.opened_address(address), field, is_secret=is_secret(means, address))
        return tuple(map(encryption.seal_address, addresses))
    except SealBroken:
        raise BadInput(field, "This address was stored under another SECRET_KEY; type it again.") from None


@contextmanager
def services_needed() -> Iterator[None]:
    """ServiceDown when Redis or the database does not answer."""
    try:
        yield
    except RedisError as error:
        raise ServiceDown(_nothing_started(error, "Redis does not answer")) from error
    except DatabaseError as error:
        raise ServiceDown(_nothing_started(error, "The database does not answer")) from error


def _nothing_started(error: Exception, what: str) -> str:
    short = shortage_of(error)
    if short is None:
        return f"{what} ({_first_line(error)}); nothing was started."
    return f"Nothing was started, because {because(short)}. {remedy(short)}, and try again."


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
