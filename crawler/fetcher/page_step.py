"""What a capability does with the pages of a slice: a step. A page goes through all steps of its crawl."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import Any, ClassVar, Self, cast

import msgspec

from crawler import registry
from crawler.clock import Clock
from crawler.core.html.document import Document
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import Batch, PageResult, PageTask
from crawler.fetcher.host_slot import HostSlot, RateLimited
from crawler.fetcher.robots_check import RobotsChecker
from crawler.frontier.frontier import Frontier
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import FetchResult, Wants
from crawler.http.warc_record import RecordedExchange

Fetch = Callable[[PageTask], PageResult | RateLimited]


class SliceContext(msgspec.Struct, frozen=True, kw_only=True):
    """The slice whose pages a step gets."""

    batch: Batch
    host: str
    holder: str  # under which the slice holds its host's slot
    fetcher: HttpFetcher
    slot: HostSlot
    robots: RobotsChecker | None  # None: robots.txt is not obeyed
    frontier: Frontier
    now: Clock
    note_sent: Callable[[], None]  # to be called for each request that `fetcher` does not send
    shared: dict[str, Any]  # what the steps of the batch's slices share, by capability

    @property
    def policy(self) -> FetchPolicy:
        return self.batch.policy

    @property
    def key(self) -> Hashable:
        """Equal for slices whose pages may share what a step keeps open: the crawl, the host and the policy."""
        return self.batch.crawl, self.host, self.policy


@dataclass(eq=False)
class Visit:
    """One page on its way through the steps."""

    task: PageTask
    fetched_at: float  # epoch seconds
    requests: int  # sent before the page's own, for robots.txt
    sent: FetchResult | None = None  # the response
    shown: FetchResult | None = None  # what became of it, such as the DOM that scripts made
    html: bytes | None = None  # of `shown`, in UTF-8; None: it is not HTML, or no success
    document: Document | None = None  # the same; None: no step of the crawl reads it
    result: PageResult | None = None
    exchanges: Sequence[RecordedExchange] = ()  # besides the page's own, for an archive
    pictures: dict[str, bytes | str] = field(default_factory=dict)  # content format -> image, or why there is none

    def unread(self) -> PageResult:
        """The result of a page that was received, without anything of its content."""
        sent = cast(FetchResult, self.sent)
        return PageResult(
            id=self.task.id,
            attempt=self.task.attempt,
            outcome=sent.outcome,
            bytes=sent.bytes_read,
            requests=self.requests + sent.requests,
            fetched_at=self.fetched_at,
        )


class Stage(IntEnum):
    """The order of the steps; of one stage, that of the registry."""

    CHECK = 1  # whether the response is the page's own
    SHOW = 2  # may replace what is read
    READ = 3  # adds to the result
    CHANGE = 4  # may change what others have read
    STORE = 5  # of the page as it is then


class CannotPrepare(Exception):
    """`str` says why, for users; `url` is the page that could not be used."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(reason)
        self.url = url


class PageStep:
    """One for each slice whose crawl needs it. Each method is called with one page after the other, those that a step
    does not have not at all. A result that is returned is that of the page, which then goes through no further step.
    """

    stage: ClassVar[Stage]
    reads_document: ClassVar[bool] = True  # False: it needs no `Visit.document`, and parses the page itself if it must
    wants: Wants | None = None  # the bodies to read; None = HTML only

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        """None if the crawl does not need it. May raise `MissingHere` and `CannotWork`."""
        raise NotImplementedError

    @classmethod
    def prepare(cls, policy: FetchPolicy, fetcher: HttpFetcher, wait: Callable[[], bool]) -> None:
        """Called before a page is fetched without a crawl, to try something on it. `wait` waits until a request may be
        sent; False: that takes too long. Raises CannotPrepare."""

    def around(self, task: PageTask, fetch: Fetch) -> PageResult | RateLimited:
        """The result of a page or sitemap, by `fetch`, which asks robots.txt and goes through all steps. Those of early
        stages are around those of later ones."""
        raise NotImplementedError

    def request(self, visit: Visit, wants: Wants, seconds: float | None) -> PageResult | None:
        """Set `sent`, and `shown` if that is another. At most one step of a crawl has this."""
        raise NotImplementedError

    def received(self, visit: Visit) -> PageResult | None:
        """The response has arrived; `shown` may be replaced."""
        raise NotImplementedError

    def parsed(self, visit: Visit) -> PageResult | None:
        """`html` and `document` are there. Also called for sitemaps and pages without one."""
        raise NotImplementedError

    def finish(self, visit: Visit) -> None:
        """`result` is there, and may be replaced."""
        raise NotImplementedError

    def renew(self) -> None:
        """Renew what the step has locked; called in the heartbeat's thread."""

    def abort(self) -> None:
        """End the request under way; called by any thread."""


@cache
def _kinds() -> list[type[PageStep]]:
    kinds = cast("tuple[type[PageStep], ...]", registry.entries("page_steps", type))
    return sorted(kinds, key=lambda kind: kind.stage)


def prepare(policy: FetchPolicy, fetcher: HttpFetcher, wait: Callable[[], bool]) -> None:
    """Do what the crawl's steps do before its first page. Raises CannotPrepare."""
    for kind in _kinds():
        kind.prepare(policy, fetcher, wait)


def steps_of(context: SliceContext) -> tuple[PageStep, ...]:
    """Those that this slice needs."""
    made = (kind.of(context) for kind in _kinds())
    return tuple(step for step in made if step is not None)
