"""Rules of rendered pages: when, for how long, which requests to block, and when to replace the browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from crawler.core.pages.content_formats import VIEWPORT, WEBP

RENDER_SECONDS = 15.0  # that a page may spend in the browser, unless the crawl says otherwise
MAX_RENDER_SECONDS = 60.0  # that a crawl may allow it: a fetch job must end within minutes
MAX_PAGE_BYTES = 50 * 1024 * 1024
MAX_BROWSER_PAGES = 20  # Chromium keeps some memory of every page
MAX_BROWSER_MB = 2000  # of all its processes, with the pages under way
MAX_PAGE_MB = 1000  # of one process that has a page

NEVER_SENT = frozenset({"ping", "cspreport"})
"""Kinds of requests that only inform a server: beacons of analytics, reports of a security policy."""
STREAMS = frozenset({"eventsource", "websocket"})
"""Kinds of requests that have no end, so no page waits for it."""

_SHIFT_GAP_MS, _SHIFT_WINDOW_MS = 1000.0, 5000.0


UNREAD_KINDS = ("image", "font", "media")
"""Kinds of requests, by Playwright's names, that change nothing the crawler reads from a page."""
UNSEEN_KINDS = ("media",)
"""Those that change nothing about a picture of it either."""


class RenderChoices(msgspec.Struct, frozen=True, kw_only=True):
    """How a crawl wants its pages to be rendered."""

    wait_for: str = ""  # a CSS selector; "" = load, then no request under way for half a second
    seconds: float = RENDER_SECONDS  # at most, for the whole page in the browser
    scroll: bool = False  # to the end, step by step, until nothing new comes
    pictures: tuple[str, ...] = ()  # that are taken of a page: SCREENSHOT, PDF
    screenshot: str = VIEWPORT  # or WHOLE_PAGE
    screenshot_format: str = WEBP  # or PNG, JPEG
    blocked_kinds: tuple[str, ...] = UNREAD_KINDS
    records: bool = False  # the responses to its further requests, with their bodies
    blocked_hosts: tuple[str, ...] = ()  # "host", or "*.host" for it and all below it; never the page's own
    virtual_time: bool = False  # that half second passes in the page's own time; no vitals then
    max_bytes: int = MAX_PAGE_BYTES  # received for one page, its document not among them
    max_requests: int = 500  # of one page, its document not among them


def why_blocked(choices: RenderChoices, kind: str, host: str) -> str:
    """Why a page's further request is not sent; "" if it is. `host` is "" for the page's own, which is not blocked."""
    if kind in NEVER_SENT or kind in choices.blocked_kinds:
        return f"blocked: {kind}"
    return f"blocked: {host}" if host and is_listed(host, choices.blocked_hosts) else ""


def is_listed(host: str, entries: Iterable[str]) -> bool:
    """Whether one of these entries names the host. "*.example.org" names example.org and every host below it."""
    name = host.lower().rstrip(".")
    return any(_names(entry.lower().strip().rstrip("."), name) for entry in entries)


def _names(entry: str, host: str) -> bool:
    if not entry.startswith("*."):
        return entry == host
    return host == entry[2:] or host.endswith(entry[1:])


class BrowserLimits(msgspec.Struct, frozen=True, kw_only=True):
    """After which a browser is replaced."""

    pages: int = MAX_BROWSER_PAGES
    mb: float = MAX_BROWSER_MB
    page_mb: float = MAX_PAGE_MB  # with more a page's process is ended at once


def why_replace(limits: BrowserLimits, pages: int, mb: float) -> str:
    """Why a browser gets no further page, for the log; "" if it may have one. `pages`: those it was given so far; `mb`:
    its memory, 0 if that is not known."""
    if pages >= limits.pages:
        return f"it has had {pages} pages"
    return f"it uses {mb:.0f} MB" if mb > limits.mb else ""


def layout_shift(shifts: Sequence[tuple[float, float]]) -> float:
    """Cumulative Layout Shift: the largest sum of shifts in a window of five seconds without a gap of one second
    (https://web.dev/articles/cls). `shifts`: time in ms and value, in order."""
    largest = total = 0.0
    began = last = float("-inf")
    for at, value in shifts:
        if at - last >= _SHIFT_GAP_MS or at - began >= _SHIFT_WINDOW_MS:
            began, total = at, 0.0
        last, total = at, total + value
        largest = max(largest, total)
    return largest
