"""Starts a crawl over a list of URLs of any length: the list is read into the table in chunks, then the crawl runs.

Until then the crawl is in state LOADING, and nothing of it is handed out. Its row has a heartbeat of the loader, the
process that reads the list. If the loader dies, `reconcile` discards the crawl: half a list is none.
"""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain, islice
from typing import BinaryIO, Protocol
from uuid import UUID, uuid4

import msgspec
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from crawler import clock, conf, encryption
from crawler.accounts import quotas
from crawler.accounts.permissions import check_private
from crawler.core.access.credentials import is_for_own_hosts
from crawler.core.errors import BadInput, LoadStopped
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import Event
from crawler.core.protocol.completion import State
from crawler.core.url_lists.entries import Entry, Invalid, ListReport, entries_of
from crawler.core.url_lists.reader import PIECE_BYTES, ColumnChoice
from crawler.crawls.control import if_redis_responds, wake_manager
from crawler.crawls.crawl_checks import with_checks
from crawler.crawls.credentials import HOSTS, check_usable, own_hosts
from crawler.crawls.start import checked_options, note_start, services_needed
from crawler.http.guard import guard_of
from crawler.models import Crawl
from crawler.notices.outbox import add_notice
from crawler.queueing import queues
from crawler.queueing.duties import NOTHING, STEPS_PER_SCAN, DutyResult, Scan
from crawler.storage import writer

LOADER_TIMEOUT = timedelta(seconds=60)  # without a heartbeat the loader is presumed dead after this
DELETE_ROWS_PER_TRANSACTION = 5000  # so that other crawls can write in between


def discard(crawl_id: UUID) -> None:
    """Delete a crawl that is loading; not one that was started or cancelled meanwhile."""
    _mark_abandoned(Crawl.objects.filter(id=crawl_id))
    while not discard_some(crawl_id):
        pass


def discard_abandoned(scan: Scan) -> DutyResult:
    """Delete crawls without a loader, in some steps per crawl. Heartbeats go by the database's clock."""
    if not any(crawl.state == State.LOADING for crawl in scan.crawls):
        return NOTHING
    _mark_abandoned(Crawl.objects.filter(loaded_at__lt=Now() - LOADER_TIMEOUT))
    for crawl_id in list(Crawl.objects.filter(state=State.LOADING, loaded_at=None).values_list("id", flat=True)):
        any(discard_some(crawl_id) for _ in range(STEPS_PER_SCAN))
    return NOTHING


def discard_some(crawl_id: UUID) -> bool:
    """Delete some rows of an abandoned crawl; True if nothing is left. Nothing of it is in Redis yet."""
    with transaction.atomic():
        abandoned = Crawl.objects.select_for_update().filter(id=crawl_id, state=State.LOADING, loaded_at=None).first()
        if abandoned is None:
            return True  # another got there first
        if writer.delete_rows(crawl_id, 0, DELETE_ROWS_PER_TRANSACTION):
            return False
        abandoned.delete()
    return True


def _mark_abandoned(crawls: QuerySet[Crawl]) -> None:
    """Clear the heartbeat: a loader that was only slow notices with its next lines, and stops."""
    crawls.filter(state=State.LOADING).update(loaded_at=None)


LINES_PER_TRANSACTION = 5000  # lines in one transaction
HEARTBEAT_INTERVAL_S = 5.0  # while lines come slowly or not at all

LINK_OPTIONS = (
    *("max_depth", "include", "exclude", "subdomains", "hosts", "path_prefixes"),
    *("externals", "sitemaps", "sitemap_urls"),
)
"""Options about following links, which do not apply: a list names all its pages."""

STOPPED_MESSAGE = "The crawl was cancelled or deleted while its list was being read."

Item = Entry | Invalid


class OnChunk(Protocol):
    """Gets the report so far, and the invalid lines since the last call."""

    def __call__(self, report: ListReport, invalid: Sequence[Invalid]) -> None: ...


def load_list(
    stream: BinaryIO,
    name: str,
    options: CrawlOptions,
    *,
    columns: ColumnChoice | None = None,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    on_chunk: OnChunk | None = None,
    crawl_id: UUID | None = None,
) -> Crawl:
    """A running crawl over the URLs of a list (see `core.url_lists.entries`), and over nothing they lead to. `sealed`
    and `crawl_id` as for `start_crawl`.

    Hosts are not resolved here, a million of them as it may be; the guard judges each address when it is asked. Raises
    BadInput, ServiceDown, or LoadStopped if the crawl was cancelled or deleted meanwhile. After the first two,
    as after an interruption, nothing of the crawl is left.
    """
    _refuse_link_options(options, sealed)
    check_private(owner, allow_private=allow_private)
    options = checked_options(msgspec.structs.replace(options, recursive=False), allow_private=allow_private)
    check_usable(guard_of(options.private_hosts), sealed)
    _check_credential_hosts(options, sealed)
    options = with_checks(options, sealed, own_hosts((), options, listed=True))
    sign = _LoaderHeartbeat()
    items = entries_of(_pieces(stream, name, sign.beat), name, columns, max_bytes=conf.max_list_bytes())
    first = list(islice(items, LINES_PER_TRANSACTION))  # a list that is none is refused before anything is made
    with services_needed():
        queues.connection().ping()
        crawl = sign.crawl = _create_crawl(first, name, options, owner, sealed, crawl_id or uuid4())
    with _discard_on_error(crawl), services_needed():
        report = ListReport()
        for chunk in chain([first], _chunks(items)):
            quotas.check_room(crawl.owner_id)
            report = _insert_chunk(crawl.id, chunk, report)
            if on_chunk is not None:
                on_chunk(report, [item for item in chunk if isinstance(item, Invalid)])
        _set_running(crawl.id)
    crawl.refresh_from_db()
    with if_redis_responds(crawl, "complete"):
        wake_manager(crawl)
    return crawl


class _LoaderHeartbeat:
    """Renews the heartbeat of a crawl, once it has one, while its list is read slowly."""

    def __init__(self) -> None:
        self.crawl: Crawl | None = None
        self._last_beat = time.monotonic()

    def beat(self) -> None:
        if self.crawl is None or time.monotonic() - self._last_beat < HEARTBEAT_INTERVAL_S:
            return
        self._last_beat = time.monotonic()
        if _loading(self.crawl.id).update(loaded_at=Now()) != 1:
            raise LoadStopped(STOPPED_MESSAGE)


def _refuse_link_options(options: CrawlOptions, sealed: str) -> None:
    usual = CrawlOptions()
    for name in LINK_OPTIONS:
        if name == "hosts" and sealed:  # they say who is sent the credentials, see `core.access.credentials`
            continue
        if getattr(options, name) != getattr(usual, name):
            raise BadInput(name, f"A list contains all its pages, and links are not followed; leave out {name}.")


def _check_credential_hosts(options: CrawlOptions, sealed: str) -> None:
    known = encryption.opened(sealed)
    if is_for_own_hosts(known) and not options.hosts:
        what = "A list can contain pages of any site. Name the hosts that receive the headers, cookies or passwords"
        raise BadInput("hosts", f"{what}, as further hosts ({HOSTS}), such as shop.example.com.")


def _create_crawl(
    first: Sequence[Item], name: str, options: CrawlOptions, owner: User | None, sealed: str, crawl_id: UUID
) -> Crawl:
    url = next(item.url for item in first if isinstance(item, Entry))
    with transaction.atomic():
        quotas.claim(owner, clock.now())
        crawl = Crawl.objects.create(
            id=crawl_id,
            state=State.LOADING,
            start_urls=[url],
            source=name[-255:],
            options=options.to_plain(),
            owner=owner,
            sealed=sealed,
            loaded_at=Now(),
        )
        note_start(crawl)
    return crawl


@contextmanager
def _discard_on_error(crawl: Crawl) -> Iterator[None]:
    try:
        yield
    except BaseException:  # also after Ctrl-C no half-loaded crawl is left
        with suppress(DatabaseError):  # it is down: `reconcile` does it
            discard(crawl.id)
        raise


def _chunks(items: Iterator[Item]) -> Iterator[list[Item]]:
    while chunk := list(islice(items, LINES_PER_TRANSACTION)):
        yield chunk


def _insert_chunk(crawl_id: UUID, chunk: Sequence[Item], report: ListReport) -> ListReport:
    """Insert the pages of some lines, with the report and a heartbeat, in one transaction."""
    entries = [item for item in chunk if isinstance(item, Entry)]
    with transaction.atomic():
        try:
            taken = writer.open_listed_pages(crawl_id, entries, clock.epoch_seconds())
        except Crawl.DoesNotExist:
            raise LoadStopped(STOPPED_MESSAGE) from None
        report = report.plus(chunk, taken)
        if _loading(crawl_id).update(loaded_at=Now(), source_report=report.to_plain()) != 1:
            raise LoadStopped(STOPPED_MESSAGE)
    return report


def _set_running(crawl_id: UUID) -> None:
    with transaction.atomic():
        if _loading(crawl_id).update(state=State.RUNNING) != 1:
            raise LoadStopped(STOPPED_MESSAGE)
        add_notice(Crawl.objects.get(id=crawl_id), Event.STARTED)


def _loading(crawl_id: UUID) -> QuerySet[Crawl]:
    """The crawl, as long as it is loading and its loader was not presumed dead."""
    return Crawl.objects.filter(id=crawl_id, state=State.LOADING, loaded_at__isnull=False)


def _pieces(stream: BinaryIO, name: str, beat: Callable[[], None]) -> Iterator[bytes]:
    """The bytes of a stream as they arrive, with heartbeats meanwhile where the stream may block."""
    read = getattr(
        stream, "read1", stream.read
    )  # from a pipe: the bytes that are there, without waiting for a full chunk
    may_wait = _may_wait(stream)
    try:
        while True:
            while may_wait and not select.select([stream], [], [], HEARTBEAT_INTERVAL_S)[0]:
                beat()
            piece = read(PIECE_BYTES)
            if not piece:
                return
            yield piece
            beat()
    except OSError as error:
        raise BadInput("list", f"{name} cannot be read to its end: {error.strerror or error}.") from error


def _may_wait(stream: BinaryIO) -> bool:
    """Whether it is a pipe or a terminal, and not a file on disk or in memory."""
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (AttributeError, OSError):
        return False
