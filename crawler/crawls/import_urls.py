"""Starts a crawl over a list of URLs of any length: the list is read into the table piece by piece, then the crawl may
run.

Until then the crawl is in state LOADING, which nothing is handed out of. Its row bears a sign of life of whoever reads
the list. If that one dies, whoever reconciles discards the crawl (`crawls.import_urls`): half a list is none.
"""

from __future__ import annotations

import logging
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
from redis.exceptions import RedisError

from crawler import clock, encryption, logs
from crawler.accounts import quotas
from crawler.core.access.credentials import request_headers
from crawler.core.crawl.completion import State
from crawler.core.crawl.notices import Event
from crawler.core.crawl.options import CrawlOptions
from crawler.core.errors import BadInput, LoadStopped
from crawler.core.url_lists.entries import Entry, Invalid, ListReport, entries_of
from crawler.core.url_lists.reader import PIECE, Columns
from crawler.crawls.start import check_sealed, judged, note_start, services_needed, set_going
from crawler.http.guards import guard_of
from crawler.models import Crawl
from crawler.notices.outbox import tell
from crawler.queueing import queues
from crawler.storage import writer

# Discards crawls whose list was not read to its end: half a list is none.

SILENCE = timedelta(seconds=60)  # after which whoever read the list is taken for dead
ROWS_AT_ONCE = 5000  # in one transaction, so that other crawls can write in between


def discard(crawl_id: UUID) -> None:
    """Delete a crawl that is loading; not one that was let run, or was cancelled, meanwhile."""
    _condemn(Crawl.objects.filter(id=crawl_id))
    while not discard_some(crawl_id):
        pass


def discard_abandoned(at_most: int) -> None:
    """Go on deleting what nobody loads any more, in so many steps a crawl. The database's clock judges all loaders."""
    _condemn(Crawl.objects.filter(loaded_at__lt=Now() - SILENCE))
    for crawl_id in list(Crawl.objects.filter(state=State.LOADING, loaded_at=None).values_list("id", flat=True)):
        any(discard_some(crawl_id) for _ in range(at_most))


def discard_some(crawl_id: UUID) -> bool:
    """Delete some rows of a condemned crawl; whether that was the end of it. Nothing of it is in Redis yet."""
    with transaction.atomic():
        condemned = Crawl.objects.select_for_update().filter(id=crawl_id, state=State.LOADING, loaded_at=None).first()
        if condemned is None:
            return True  # another got there first
        if writer.delete_rows(crawl_id, ROWS_AT_ONCE):
            return False
        condemned.delete()
    return True


def _condemn(crawls: QuerySet[Crawl]) -> None:
    """Take the sign of life away: a loader that was only slow finds out with its next lines, and stops."""
    crawls.filter(state=State.LOADING).update(loaded_at=None)


log = logging.getLogger(__name__)

CHUNK = 5000  # lines in one transaction
ALIVE_EVERY = 5.0  # seconds between two signs of life, while lines come slowly or not at all

WITHOUT_A_MEANING = (
    *("max_depth", "include", "exclude", "subdomains", "hosts", "path_prefixes"),
    *("externals", "sitemaps", "sitemap_urls"),
)
"""Options that say which links are followed: a list has all its pages on it."""

STOPPED = "The crawl was cancelled or deleted by somebody while its list was being read."

Item = Entry | Invalid


class OnChunk(Protocol):
    """Is told what was read so far, and the lines that came to nothing since it was told last."""

    def __call__(self, report: ListReport, invalid: Sequence[Invalid]) -> None: ...


def load_list(
    stream: BinaryIO,
    name: str,
    options: CrawlOptions,
    *,
    columns: Columns | None = None,
    owner: User | None = None,
    allow_private: bool = False,
    sealed: str = "",
    on_chunk: OnChunk | None = None,
    crawl_id: UUID | None = None,
) -> Crawl:
    """A running crawl over the URLs of a list (see `core.url_lists.entries`), and over nothing they lead to. `sealed`
    and `crawl_id` as for `start_crawl`.

    Hosts are not resolved here, a million of them as it may be; the guard judges each address when it is asked. Raises
    BadInput, ServiceDown, or LoadStopped when somebody cancelled or deleted the crawl meanwhile. After the first two,
    as after an interruption, nothing of the crawl is left.
    """
    _refuse_without_meaning(options, sealed)
    options = judged(msgspec.structs.replace(options, recursive=False), allow_private=allow_private)
    check_sealed(guard_of(options.private_hosts), sealed)
    _check_somebody_is_sent_them(options, sealed)
    sign = _SignOfLife()
    items = entries_of(_pieces(stream, name, sign.give), name, columns)
    first = list(islice(items, CHUNK))  # a list that is none is refused before anything is made
    with services_needed():
        queues.connection().ping()
        crawl = sign.crawl = _made(first, name, options, owner, sealed, crawl_id or uuid4())
    with _discarded_on_trouble(crawl), services_needed():
        report = ListReport()
        for chunk in chain([first], _chunks(items)):
            report = _take_in(crawl.id, chunk, report)
            if on_chunk is not None:
                on_chunk(report, [item for item in chunk if isinstance(item, Invalid)])
        _let_run(crawl.id)
    crawl.refresh_from_db()
    _wake(crawl)
    return crawl


class _SignOfLife:
    """Renews the sign of life of a crawl, once it has one, while its list is read slowly."""

    def __init__(self) -> None:
        self.crawl: Crawl | None = None
        self._given_at = time.monotonic()

    def give(self) -> None:
        if self.crawl is None or time.monotonic() - self._given_at < ALIVE_EVERY:
            return
        self._given_at = time.monotonic()
        if _loading(self.crawl.id).update(loaded_at=Now()) != 1:
            raise LoadStopped(STOPPED)


def _refuse_without_meaning(options: CrawlOptions, sealed: str) -> None:
    usual = CrawlOptions()
    for name in WITHOUT_A_MEANING:
        if name == "hosts" and sealed:  # they say who is sent the credentials, see `core.access.credentials`
            continue
        if getattr(options, name) != getattr(usual, name):
            raise BadInput(name, f"A list has all its pages on it, and no link is followed; leave out {name}.")


def _check_somebody_is_sent_them(options: CrawlOptions, sealed: str) -> None:
    if request_headers(encryption.opened(sealed)) and not options.hosts:
        what = "A list may name anybody's pages. Say which hosts are sent the headers, cookies or passwords"
        raise BadInput("hosts", f"{what}, as further hosts (--host), such as shop.example.com.")


def _made(
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
def _discarded_on_trouble(crawl: Crawl) -> Iterator[None]:
    try:
        yield
    except BaseException:  # a Ctrl-C too leaves nothing half-made
        with suppress(DatabaseError):  # it is away: whoever reconciles does it
            discard(crawl.id)
        raise


def _chunks(items: Iterator[Item]) -> Iterator[list[Item]]:
    while chunk := list(islice(items, CHUNK)):
        yield chunk


def _take_in(crawl_id: UUID, chunk: Sequence[Item], report: ListReport) -> ListReport:
    """Insert the pages of some lines, with the report and a sign of life, in one transaction."""
    entries = [item for item in chunk if isinstance(item, Entry)]
    with transaction.atomic():
        try:
            taken = writer.open_listed_pages(crawl_id, entries, clock.epoch_seconds())
        except Crawl.DoesNotExist:
            raise LoadStopped(STOPPED) from None
        report = report.plus(chunk, taken)
        if _loading(crawl_id).update(loaded_at=Now(), source_report=report.to_plain()) != 1:
            raise LoadStopped(STOPPED)
    return report


def _let_run(crawl_id: UUID) -> None:
    with transaction.atomic():
        if _loading(crawl_id).update(state=State.RUNNING) != 1:
            raise LoadStopped(STOPPED)
        tell(Crawl.objects.get(id=crawl_id), Event.STARTED)


def _wake(crawl: Crawl) -> None:
    try:
        set_going(crawl)
    except RedisError as error:
        log.warning("crawl %s is complete, but Redis could not be told: %s", crawl.id, error, extra=logs.of(crawl.id))


def _loading(crawl_id: UUID) -> QuerySet[Crawl]:
    """The crawl, as long as it is loading and nobody took its loader for dead (`crawls.import_urls`)."""
    return Crawl.objects.filter(id=crawl_id, state=State.LOADING, loaded_at__isnull=False)


def _pieces(stream: BinaryIO, name: str, sign_of_life: Callable[[], None]) -> Iterator[bytes]:
    """The bytes of a stream as they come; with signs of life meanwhile, where they may be long in coming."""
    read = getattr(stream, "read1", stream.read)  # of a pipe: what is there, not what fills a piece
    may_wait = _may_wait(stream)
    try:
        while True:
            while may_wait and not select.select([stream], [], [], ALIVE_EVERY)[0]:
                sign_of_life()
            piece = read(PIECE)
            if not piece:
                return
            yield piece
            sign_of_life()
    except OSError as error:
        raise BadInput("list", f"{name} cannot be read to its end: {error.strerror or error}.") from error


def _may_wait(stream: BinaryIO) -> bool:
    """Whether it is a pipe or a terminal, and no file, on disk or in memory."""
    try:
        return not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (AttributeError, OSError):
        return False
