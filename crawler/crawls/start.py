"""Starts a crawl: validate the input, insert the rows, wake the manager. All or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import msgspec
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.utils import timezone
from redis.exceptions import RedisError

from crawler import clock, conf, encryption
from crawler.accounts import audit, quotas
from crawler.accounts.permissions import check_private, installation_hosts
from crawler.core.channels.catalogue import KINDS, is_secret
from crawler.core.channels.kind import ChannelKind
from crawler.core.errors import BadInput, SealBroken, ServiceDown, first_line
from crawler.core.installation.deployment import is_elsewhere
from crawler.core.options.catalogue import CrawlOptions, check_options
from crawler.core.options.events import DEFAULT_EVENTS, Event, chosen_events
from crawler.core.options.schedule import Timetable, parse
from crawler.core.protocol.lanes import Lane, lanes
from crawler.core.sitemaps.formats import initial_sitemaps
from crawler.core.urls.addresses import EVERYTHING
from crawler.core.urls.normalise import parse_user_url
from crawler.crashpoints import crash_point
from crawler.crawls.control import wake_manager
from crawler.crawls.crawl_checks import with_checks
from crawler.crawls.credentials import check_usable, own_hosts
from crawler.crawls.holds import shortage_of
from crawler.http.guard import Guard, check_web_address, guard_of
from crawler.models import Crawl, Schedule
from crawler.notices.outbox import add_notice
from crawler.queueing import queues
from crawler.queueing.workers import capacity
from crawler.reports.cause_text import because, remedy
from crawler.storage import writer


def start_crawl(
    references: Sequence[str],
    options: CrawlOptions,
    rule: str = "",
    *,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    crawl_id: UUID | None = None,
    by_operator: bool = False,
) -> Crawl:
    """Start a crawl over these URLs as a user types them ("example.com/docs" is accepted); with a `rule` ("every 1d"),
    as the first run of a new schedule. `sealed` are its encrypted credentials:
    `encryption.seal(credentials.parse(...))`, or those of an earlier crawl. `crawl_id` makes the call idempotent: there
    are never two crawls with one id. `by_operator`: by one who may run any code here anyway.

    Raises BadInput (an invalid URL, option, address or rule; RefusedAddress and OverQuota among them) and ServiceDown
    (Redis or the database does not respond). Then nothing was created.
    """
    timetable = timetable_of(rule) if rule else None
    crawl = draft(references, options, owner=owner, allow_private=allow_private, sealed=sealed, by_operator=by_operator)
    crawl.id = crawl_id or crawl.id
    if timetable is not None:
        crawl.schedule = schedule_like(crawl, rule, timetable)
    with services_needed():
        queues.connection().ping()
        with transaction.atomic():
            if crawl.schedule is not None:
                save_schedule(crawl.schedule)
            insert(crawl)
    crash_point("start: committed")
    try:
        wake_manager(crawl)
    except RedisError as error:
        _undo(crawl)
        raise ServiceDown(_failure_message(error, "Redis went away")) from error
    crawl.refresh_from_db()
    return crawl


def draft(
    references: Sequence[str],
    options: CrawlOptions,
    *,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    by_operator: bool = False,
) -> Crawl:
    """A crawl over these URLs that is not saved yet; BadInput if it cannot be started."""
    start_urls = list(dict.fromkeys(parse_user_url(reference) for reference in references))
    if not start_urls:
        raise BadInput("start_urls", "Enter at least one start URL, such as https://example.com/.")
    check_private(owner, allow_private=allow_private)
    options = checked_options(options, allow_private=allow_private, by_operator=by_operator)
    sitemap_urls = tuple(dict.fromkeys(parse_user_url(reference) for reference in options.sitemap_urls))
    options = msgspec.structs.replace(options, sitemap_urls=sitemap_urls)
    guard = guard_of(options.private_hosts)
    for url in start_urls:
        check_web_address(guard, url, "start_urls")
    for url in options.sitemap_urls:
        check_web_address(guard, url, "sitemap_urls")
    check_usable(guard, sealed)
    options = with_checks(options, sealed, own_hosts(start_urls, options), guard)
    return Crawl(start_urls=start_urls, options=options.to_plain(), owner=owner, sealed=sealed)


def insert(crawl: Crawl) -> None:
    """Insert a drafted crawl and its first pages, in the open transaction; OverQuota if its owner may not have
    another."""
    quotas.claim(crawl.owner, clock.now())
    crawl.save()
    writer.open_start_pages(
        crawl, crawl.start_urls, clock.epoch_seconds(), initial_sitemaps(crawl.start_urls, crawl.chosen)
    )
    add_notice(crawl, Event.STARTED)
    note_start(crawl)
    crash_point("start: rows inserted")


def note_start(crawl: Crawl) -> None:
    """Write the start to the audit log, in the transaction that starts the crawl."""
    after: dict[str, object] = {"start_urls": len(crawl.start_urls), "signs_in": bool(crawl.sealed)}
    if EVERYTHING in crawl.chosen.private_hosts:
        after["allow_private"] = True
    if crawl.schedule_id is not None:
        after["schedule"] = str(crawl.schedule_id)
    audit.note("crawl.started", crawl, after=after)


def _undo(crawl: Crawl) -> None:
    with transaction.atomic():
        audit.note("crawl.not_started", crawl)
        crawl.delete()
        if crawl.schedule is not None:
            audit.note("schedule.removed", crawl.schedule, before={"rule": crawl.schedule.rule})
            crawl.schedule.delete()


def timetable_of(rule: str) -> Timetable:
    """When a rule fires; cron expressions are in Django's TIME_ZONE."""
    return parse(rule, timezone.get_default_timezone())


def schedule_like(crawl: Crawl, rule: str, timetable: Timetable) -> Schedule:
    """A schedule of such crawls that is not saved yet."""
    return Schedule(
        start_urls=crawl.start_urls,
        options=crawl.options,
        sealed=crawl.sealed,
        rule=" ".join(rule.split()),
        owner=crawl.owner,
        next_at=timetable.next_after(clock.now()),
    )


def save_schedule(schedule: Schedule) -> None:
    """Save a new schedule, in the open transaction."""
    schedule.save()
    audit.note("schedule.made", schedule, after={"rule": schedule.rule, "signs_in": bool(schedule.sealed)})


def checked_options(options: CrawlOptions, *, allow_private: bool, by_operator: bool = False) -> CrawlOptions:
    """The validated options as stored with a crawl, with the private addresses it may fetch; BadInput if invalid."""
    check_options(options)
    for lane in lanes():
        lane.check(options, by_operator)
        if lane.is_chosen(options):
            _check_installed(lane)
    _check_page_timeout(options)
    allowed = (EVERYTHING,) if allow_private else installation_hosts()
    return msgspec.structs.replace(
        options,
        private_hosts=allowed,
        notify_events=chosen_events("notify_events", options.notify_events) or DEFAULT_EVENTS,
        **{
            kind.option: encrypted_addresses(guard_of(allowed), kind, getattr(options, kind.option))
            for kind in KINDS
            if kind.is_web
        },
    )


def _check_installed(lane: Lane) -> None:
    """BadInput if no worker can have the packages of a lane: they are missing here, and all workers are of this machine
    or none serves it."""
    if lane.extra is None or lane.extra.is_installed or is_elsewhere(conf.redis_url()):
        return
    with services_needed():
        is_served = capacity(lane, clock.epoch_seconds()) > 0
    if not is_served:
        raise BadInput(lane.option, lane.extra.missing)


def _check_page_timeout(options: CrawlOptions) -> None:
    """A crawl may only shorten the limit of the installation."""
    limit, chosen = conf.page_seconds(), options.page_timeout
    if chosen is not None and chosen > limit:
        where = f"{limit:g} seconds, the limit of this installation (CRAWLER_PAGE_SECONDS)"
        raise BadInput("page_timeout", f"Page timeout must be at most {where}, not {chosen:g} s.")


def encrypted_addresses(guard: Guard, kind: ChannelKind, addresses: Sequence[str]) -> tuple[str, ...]:
    """Web addresses as stored in a crawl's row: encrypted."""
    try:
        for address in addresses:
            hidden = is_secret(kind.name, address)
            check_web_address(guard, encryption.opened_address(address), kind.option, is_secret=hidden)
        return tuple(map(encryption.seal_address, addresses))
    except SealBroken:
        raise BadInput(kind.option, "This address was stored with another SECRET_KEY; enter it again.") from None


@contextmanager
def services_needed() -> Iterator[None]:
    """ServiceDown if Redis or the database does not respond."""
    try:
        yield
    except RedisError as error:
        raise ServiceDown(_failure_message(error, "Redis does not respond")) from error
    except DatabaseError as error:
        raise ServiceDown(_failure_message(error, "The database does not respond")) from error


def _failure_message(error: Exception, what: str) -> str:
    short = shortage_of(error)
    if short is None:
        return f"{what} ({first_line(error)}); nothing was started."
    return f"Nothing was started, because {because(short)}. {remedy(short)}, and try again."
