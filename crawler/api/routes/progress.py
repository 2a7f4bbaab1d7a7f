"""A crawl's progress as server-sent events, and its figures.

A stream occupies one thread of the web server. So it lasts half a minute at most, after which the client reconnects and
continues; and each process has a few at a time: further clients get the present state and reconnect in five seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import BoundedSemaphore
from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from crawler import clock
from crawler.accounts.permissions import sees_addresses
from crawler.api.callers import ApiRequest, recheck_caller
from crawler.api.lookups import crawl_named, crawl_watched
from crawler.api.openapi import A_CRAWL, Operations
from crawler.api.problems import Problem
from crawler.api.schemas import progress as shapes
from crawler.api.schemas.crawl import Progress
from crawler.core.access.permissions import Scope
from crawler.core.protocol.progress import HEARTBEAT, ProgressState, event, events_since, retry
from crawler.reports import queue_figures
from crawler.reports.progress import breakdown, progress_of
from crawler.reports.receipt import masked_receipt

MAX_STREAM_S = 30.0
POLL_INTERVAL_S = 1.0
HEARTBEAT_INTERVAL_S = 10.0  # without changes, so that no proxy closes the connection
MAX_STREAMS = 4  # of one process; `bin/up` gives it eight threads
RECONNECT_MS, RECONNECT_LATER_MS = 1000, 5000

EXAMPLE = """retry: 1000

event: state
data: {"state":"running"}

id: running.1.120.80
event: progress
data: {"discovered":120,"closed":80,"open":40,"done":80,"total":120,"at_most":false,"percent":66,"rate":61.5,"eta":1}

event: state
data: {"state":"finished"}

id: finished.1.120.120
event: finished
data: {"state":"finished","discovered":120,"fetched":118,"failed":2}
"""

event_router = Operations("events", tag="crawls", below=A_CRAWL)
_places = BoundedSemaphore(MAX_STREAMS)


@event_router.on(
    "GET /events", "Follow a crawl", Scope.CRAWLS_READ, content={"text/event-stream": {"example": EXAMPLE}}
)
def follow(request: ApiRequest, crawl_id: UUID) -> HttpResponseBase:
    """Server-sent events: `state` when it changes, `progress` in every second with a change, `finished` with the
    receipt. A stream ends after half a minute; a browser's EventSource reconnects with `Last-Event-ID` and misses
    nothing. The client closes it after `finished`; if it reconnects, it gets 204.
    """
    last_id = request.headers.get("Last-Event-ID", "")
    now = _seen(request, crawl_id)
    if now.is_over and now.id == last_id:
        return HttpResponse(status=204)
    pieces = Stream(lambda: _seen_again(request, crawl_id), last_id)
    headers = {"X-Accel-Buffering": "no"}  # nginx must not buffer the events
    return StreamingHttpResponse(pieces, content_type="text/event-stream", headers=headers)


class Stream:
    """The pieces of one stream. It holds one of the places until the server closes it."""

    def __init__(
        self,
        look: Callable[[], ProgressState],
        last_id: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._look, self._last_id, self._clock, self._sleep = look, last_id, clock, sleep
        self._has_place = _places.acquire(blocking=False)

    def __iter__(self) -> Iterator[bytes]:
        began = spoke_at = self._clock()
        yield retry(RECONNECT_MS if self._has_place else RECONNECT_LATER_MS)
        while True:
            try:
                seen = self._look()
            except Problem:
                yield event("deleted", {})
                return
            for piece in events_since(seen, self._last_id):
                spoke_at = self._clock()
                yield piece
            self._last_id = seen.id
            if seen.is_over or not self._has_place or self._clock() - began >= MAX_STREAM_S:
                return
            if self._clock() - spoke_at >= HEARTBEAT_INTERVAL_S:
                spoke_at = self._clock()
                yield HEARTBEAT
            self._sleep(POLL_INTERVAL_S)

    def close(self) -> None:
        """Called by the server when the response is complete, or the client has disconnected."""
        if self._has_place:
            self._has_place = False
            _places.release()


def _seen_again(request: ApiRequest, crawl_id: UUID) -> ProgressState:
    """For a caller who may still see it."""
    recheck_caller(request)
    return _seen(request, crawl_id)


def _seen(request: ApiRequest, crawl_id: UUID) -> ProgressState:
    crawl = crawl_watched(request, crawl_id)
    progress = progress_of(crawl, clock.epoch_seconds())
    return ProgressState(
        state=progress["state"],
        is_over=crawl.is_over,
        round=crawl.round,
        discovered=progress["discovered"],
        closed=progress["closed"],
        progress={name: progress[name] for name in Progress.model_fields},
        receipt=progress["receipt"] if sees_addresses(request.user, crawl) else masked_receipt(progress["receipt"]),
    )


router = Operations("figures", tag="crawls", below=A_CRAWL)


@router.on("GET /figures", "Get the figures", Scope.CRAWLS_READ, shapes.Figures, shapes.EXAMPLE)
def get_figures(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """While a crawl runs, depths and hosts are counted at intervals; `counted_at` says when."""
    crawl = crawl_named(request, crawl_id)
    return shapes.figures_of(crawl, breakdown(crawl, clock.epoch_seconds()))


@router.on("GET /queue", "Get the figures of the queue", Scope.CRAWLS_READ, shapes.QueueShown, shapes.QUEUE_EXAMPLE)
def get_queue(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
    """Pages in and out a minute, dead letters, and the age of the oldest page that is due."""
    crawl = crawl_named(request, crawl_id)
    return queue_figures.plain(queue_figures.queue_figures(crawl, clock.epoch_seconds()))
