"""What hooks are given and return: `from crawler.hooks import SKIP, Found, PageSeen, Response` (docs/hooks.md).

Needs neither Django nor Redis, so that a hook can be tested alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class PageSeen:
    """A page that was just fetched. It is not in the table yet."""

    id: int  # of its row; the same for each attempt at the page
    crawl: str  # UUID
    url: str  # normalised
    title: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)  # by extraction rules, and by hooks named before this one
    links: Sequence[str] = ()  # normalised, each once


@dataclass(frozen=True)
class Response:
    """The response with the page: always HTML with a 2xx status."""

    status: int
    headers: str = ""  # one per line, as received
    body: bytes = b""  # HTML in UTF-8; of a page that a browser rendered as its scripts left it
    fetched_at: float = 0.0  # epoch seconds
    kept: bool = False  # read again from kept content: nothing was requested

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def header(self, name: str) -> str | None:
        """The value of the first header of this name, in any case; None = there is none."""
        lines = (line.partition(":") for line in self.headers.splitlines())
        return next((value.strip() for known, _, value in lines if known.strip().lower() == name.lower()), None)


@dataclass(frozen=True)
class Found:
    """What `on_page` found on a page."""

    fields: Mapping[str, Any] = field(default_factory=dict)  # name -> value that JSON can hold; stored and exported
    links: Sequence[str] = ()  # further links, absolute or relative to the page
    follow: bool = True  # False: no link of the page is followed


SKIP = Found(follow=False)
"""No link of this page is followed. The page itself is stored and counted like any other."""


@dataclass(frozen=True)
class PageClosed:
    """A page that was requested and has its outcome. Its row is committed."""

    id: int
    crawl: str  # UUID
    url: str
    outcome: str  # such as "2xx" or "timeout", see docs/exports.md
    http_status: int | None = None  # None = no response
    title: str = ""
    depth: int = 0
    error: str = ""
    fetched_at: float | None = None  # epoch seconds; None = not requested in the end
    fields: Mapping[str, Any] = field(default_factory=dict)  # by extraction rules and hooks


@dataclass(frozen=True)
class CrawlFinished:
    """A crawl that is over."""

    id: str  # UUID
    state: str  # "finished", "failed" (no start page gave a usable response) or "cancelled"
    round: int = 1  # above 1: dead letters or traps were tried again
    start_urls: Sequence[str] = ()
    receipt: Mapping[str, Any] = field(default_factory=dict)  # docs/api.md lists its keys


class OnPage(Protocol):
    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        """Called in the fetch job, in a thread of its own, several at a time."""


class OnClosed(Protocol):
    def on_closed(self, page: PageClosed) -> None:
        """Called at least once for each page, after its row is committed."""


class OnFinished(Protocol):
    def on_finished(self, crawl: CrawlFinished) -> None:
        """Called at least once for each round of a crawl, after its end is committed."""
