"""Calls `on_closed` and `on_finished` of hooks, delivered by the outbox like notices: after the commit, at least once.

A call that raises or takes too long is counted and not repeated. One whose worker dies is made again; the row of the
delivery says which call was begun, and how often, so that a page that kills its workers stops no other page.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from django.db import IntegrityError

from crawler.capabilities.hooks import counts
from crawler.capabilities.hooks.calls import call
from crawler.capabilities.hooks.loading import ON_CLOSED, ON_FINISHED, TRANSPORT, Hook, loaded, names_with
from crawler.core.errors import TransportError
from crawler.core.options.events import ENDS, PREFIX, Event
from crawler.core.pages.code_calls import CodeCall
from crawler.crashpoints import crash_point
from crawler.hooks import CrawlFinished, PageClosed
from crawler.models import Delivery, Notice, Page, PageFacts
from crawler.notices import outbox
from crawler.notices.subscribers import Subscriber
from crawler.queueing import queues

MAX_TRIES = 3  # of one call whose worker dies
ATTEMPT_S = 1.0  # after this no further call is made in this attempt
PAGES_PER_QUERY = 50


def _addresses(event: Event) -> Iterable[str]:
    return names_with(ON_CLOSED if event is Event.PAGE else ON_FINISHED if event in ENDS else "")


def make(delivery: Delivery) -> str | None:
    """Make the calls of a delivery that are left; returns what was done in one line, or None if some are left. Raises
    TransportError if the settings of this worker do not name the hook."""
    hook = next((hook for hook in loaded() if hook.name == delivery.address), None)
    if hook is None:
        raise TransportError(f"CRAWLER_HOOKS of this worker does not name {delivery.address}", permanent=False)
    method = ON_CLOSED if delivery.notice.event == Event.PAGE else ON_FINISHED
    total = len(delivery.notice.pages) if method == ON_CLOSED else 1
    made, is_complete = _made(delivery, hook, method, total)
    with suppress(IntegrityError):  # the crawl was deleted meanwhile
        counts.add(delivery.notice.crawl_id, hook.name, method, made)
    return f"{method} was called for {total}" if is_complete else None


def _made(delivery: Delivery, hook: Hook, method: str, total: int) -> tuple[list[CodeCall], bool]:
    """The calls of this attempt, and whether none is left."""
    made, ends, tries = list[CodeCall](), time.monotonic() + ATTEMPT_S, delivery.tries + 1
    for place, given in _given(delivery.notice, method, delivery.place, total):
        if made and (time.monotonic() >= ends or queues.is_stopping()):
            outbox.note_call(delivery.id, place, tries=0)
            return made, False
        outbox.note_call(delivery.id, place, tries)
        crash_point("hook: call noted")
        if tries > MAX_TRIES:
            made.append(CodeCall(name=hook.name, error=f"its worker died {MAX_TRIES} times during this call"))
        elif given is not None:
            called = call(hook, method, bool, given)
            made.append(CodeCall(name=hook.name, error=called.error, timed_out=called.timed_out))
        crash_point("hook: called")
        tries = 1
    return made, True


Given = PageClosed | CrawlFinished


def _given(notice: Notice, method: str, first: int, total: int) -> Iterator[tuple[int, Given | None]]:
    """The place and the argument of each call from the `first` on; None for a page that is open again: it is in another
    notice when it is closed."""
    if method == ON_FINISHED:
        yield 0, _finished(notice)
        return
    for at in range(first, total, PAGES_PER_QUERY):
        ids = notice.pages[at : min(total, at + PAGES_PER_QUERY)]
        pages = _closed(notice, ids)
        yield from ((at + number, pages.get(page)) for number, page in enumerate(ids))


def _finished(notice: Notice) -> CrawlFinished:
    crawl = notice.crawl
    state = notice.event.removeprefix(PREFIX)
    return CrawlFinished(str(crawl.id), state, notice.round, tuple(crawl.start_urls), notice.receipt)


def _closed(notice: Notice, ids: Sequence[int]) -> dict[int, PageClosed]:
    pages = Page.objects.filter(crawl=notice.crawl_id, id__in=ids, status=Page.CLOSED)
    fields: dict[int, dict[str, Any]] = dict(
        PageFacts.objects.filter(page_id__in=ids, crawl=notice.crawl_id).values_list("page_id", "fields")
    )
    return {
        page.id: PageClosed(
            id=page.id,
            crawl=str(notice.crawl_id),
            url=page.url,
            outcome=page.outcome,
            http_status=page.http_status,
            title=page.title,
            depth=page.depth,
            error=page.error,
            fetched_at=page.fetched_at.timestamp() if page.fetched_at else None,
            fields=fields.get(page.id, {}),
        )
        for page in pages
    }


def _left(address: str) -> str:
    return f"Calls of the hook {address} are left; the next worker makes them."


SUBSCRIBERS = (Subscriber(TRANSPORT, _addresses, make, _left),)
