"""Fetches one page: robots.txt check, request, parsing. It returns facts; the manager decides what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any

import msgspec

from crawler import clock, logs
from crawler.core.html.document import document_of
from crawler.core.pages.cache_policy import conditions
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import MAX_SLICE_WAIT_S
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import EXTERNAL, SITEMAP, PageResult, PageTask
from crawler.core.robots.user_agent import product_token
from crawler.core.sitemaps.formats import named_in_robots
from crawler.core.urls.normalise import origin_of
from crawler.fetcher.host_slot import HostSlot, RateLimited
from crawler.fetcher.page_result import html_of, result_of, without_other_body
from crawler.fetcher.page_step import Fetch, PageStep, Visit
from crawler.fetcher.robots_check import RobotsChecker, RobotsDecision
from crawler.fetcher.sitemap import MAX_SITEMAP_BODY_BYTES, with_entries
from crawler.http import memory_budget
from crawler.http.fetcher import Fetcher, FetchResult, Wants, anything, is_html, nothing
from crawler.http.memory_budget import LARGE_BODY


class PageFetcher:
    """Fetches the pages of one slice over one connection. `robots` is None when robots.txt is not obeyed.

    If the crawl reads sitemaps, the first result of each origin names those of its robots.txt, whatever the outcome of
    the page itself. Its `page_timeout` limits a request for a page or a link to another site. It does not limit
    robots.txt, whose result all crawls share, nor sitemaps, which may be large.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        robots: RobotsChecker | None,
        slot: HostSlot,
        policy: FetchPolicy,
        now: Callable[[], float] = clock.epoch_seconds,
        steps: Sequence[PageStep] = (),
    ) -> None:
        self._fetcher, self._robots, self._slot, self._now = fetcher, robots, slot, now
        self._reports_sitemaps, self._timeout = policy.sitemaps, policy.page_timeout
        token = product_token(policy.user_agent)
        self._result_of = partial(result_of, sketches=policy.sketches, robots_token=token)
        self._steps = _Steps(steps) if steps else None
        self._reported_origins: set[str] = set()  # origins
        self._head_requests: dict[int, int] = {}  # external link -> requests made for it, when GET is still to come

    def fetch(self, task: PageTask) -> PageResult | RateLimited:
        """The result of the page, or when its host may be asked."""
        result = self._fetch(task) if self._steps is None else self._steps.around(task, self._fetch)
        if isinstance(result, RateLimited) or not self._reports_sitemaps:
            return result
        return msgspec.structs.replace(result, sitemaps=self._sitemaps(task.url))

    def _fetch(self, task: PageTask) -> PageResult | RateLimited:
        if self._robots is not None:
            ruling = self._robots.decide(task.url)
            if isinstance(ruling, RateLimited):
                return ruling
            refusal = ruling.refusal(task.url)
            if refusal is not None:
                return PageResult(
                    id=task.id,
                    attempt=task.attempt,
                    outcome=ruling.outcome,
                    robots_unreachable=not ruling.reachable and ruling.outcome is Outcome.ROBOTS,
                    requests=self._robots.take_request_count(),
                    error=refusal,
                )
        limited = self._slot.take_grant()
        if limited is not None:
            return limited
        requests = self._robots.take_request_count() if self._robots else 0
        if logs.logs_starts():
            logs.log_start(task)
        fetched_at = self._now()
        if task.kind == EXTERNAL:
            return self._check_external(task, fetched_at, requests)
        if task.kind == SITEMAP:
            body = self._fetcher.get(task.url, wants=anything, truncate_at=MAX_SITEMAP_BODY_BYTES)
            if self._steps is not None:
                self._steps.first("parsed", Visit(task, fetched_at, requests, body, body))
            with memory_guard(body):
                return with_entries(result_of(task, body, fetched_at, requests), body, task.url)
        return self._fetch_page(task, fetched_at, requests)

    def _fetch_page(self, task: PageTask, fetched_at: float, requests: int) -> PageResult:
        if self._steps is not None:
            return self._visited(Visit(task, fetched_at, requests), self._steps)
        fetched = self._fetcher.get(task.url, headers=conditions(task), seconds=self._timeout)
        with memory_guard(fetched):
            return self._result_of(task, fetched, fetched_at, requests)

    def _visited(self, visit: Visit, steps: _Steps) -> PageResult:
        """The result of a page that goes through steps."""
        task = visit.task
        for request in steps.requests:
            if (ended := request(visit, steps.wants, self._timeout)) is not None:
                return ended
        sent = visit.sent or self._fetcher.get(
            task.url, wants=steps.wants, headers=conditions(task), seconds=self._timeout
        )
        visit.sent, visit.shown = map(without_other_body, (sent, visit.shown or sent))
        with memory_guard(visit.sent):
            if (ended := steps.first("received", visit)) is not None:
                return ended
            visit.html = html_of(task, visit.shown)
            visit.document = document_of(visit.html) if steps.read_document and visit.html is not None else None
            if (ended := steps.first("parsed", visit)) is not None:
                return ended
            page = visit.document or visit.html
            visit.result = self._result_of(task, visit.shown, visit.fetched_at, visit.requests, page)
            for finish in steps.finish:
                finish(visit)
            return visit.result

    def _check_external(self, task: PageTask, fetched_at: float, requests: int) -> PageResult | RateLimited:
        """Check an external link, without credentials.

        HEAD first, then GET at the host's next grant unless the response is good. A host with a long delay would make
        the batch wait for the second request, so it gets GET at once.
        """
        is_slow = self._slot.next_at - fetched_at > MAX_SLICE_WAIT_S / 2
        if task.id not in self._head_requests and not is_slow:
            head = self._fetcher.head(task.url, anonymous=True, seconds=self._timeout)
            if not needs_get(head):
                return result_of(task, head, fetched_at, requests)
            self._head_requests[task.id] = requests + head.requests
            limited = self._slot.take_grant()
            if limited is not None:
                return limited
            fetched_at = self._now()
        asked = self._head_requests.pop(task.id, requests)
        fetched = self._fetcher.get(task.url, wants=nothing, anonymous=True, seconds=self._timeout)
        return result_of(task, fetched, fetched_at, asked)

    def _sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps named by the page's robots.txt, unless reported before."""
        origin = origin_of(url)
        ruling = self._robots.decide(url) if self._robots and origin not in self._reported_origins else None
        self._reported_origins.add(origin)
        rules = ruling.rules if isinstance(ruling, RobotsDecision) else None
        return named_in_robots(rules.sitemaps, origin) if rules else ()


class _Steps:
    """The steps of a slice, by what they have."""

    def __init__(self, steps: Sequence[PageStep]) -> None:
        def those_with(name: str) -> list[Any]:
            return [getattr(step, name) for step in steps if getattr(type(step), name) is not getattr(PageStep, name)]

        self._around: list[Around] = those_with("around")
        self.requests: list[Callable[[Visit, Wants, float | None], PageResult | None]] = those_with("request")
        self._checks: dict[str, list[Callable[[Visit], PageResult | None]]] = {
            name: those_with(name) for name in ("received", "parsed")
        }
        self.finish: list[Callable[[Visit], None]] = those_with("finish")
        self.read_document = any(step.reads_document for step in steps)
        self.wants = next((step.wants for step in steps if step.wants is not None), is_html)

    def around(self, task: PageTask, fetch: Fetch) -> PageResult | RateLimited:
        """The result of `fetch`, or of the steps that are around it."""
        for around in reversed(self._around):
            fetch = partial(_around, around, fetch)
        return fetch(task)

    def first(self, name: str, visit: Visit) -> PageResult | None:
        """The first result that a step returns."""
        for check in self._checks[name]:
            if (result := check(visit)) is not None:
                return result
        return None


Around = Callable[[PageTask, Fetch], PageResult | RateLimited]


def _around(step: Around, fetch: Fetch, task: PageTask) -> PageResult | RateLimited:
    return step(task, fetch)


_nothing_to_release = nullcontext()


def memory_guard(fetched: FetchResult) -> AbstractContextManager[object]:
    """The tree of a large page takes many times its memory."""
    return _released() if len(fetched.body) > LARGE_BODY else _nothing_to_release


@contextmanager
def _released() -> Iterator[None]:
    try:
        yield
    finally:
        memory_budget.release_memory()


def needs_get(head: FetchResult) -> bool:
    """Whether GET may do better. Not if no request was sent, nor if the host asks to wait."""
    if head.http_status in (429, 503) or head.requests == 0:
        return False
    return head.http_status is None or head.http_status >= 400 or head.outcome is Outcome.MALFORMED
