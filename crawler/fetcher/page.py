"""Fetches one page: robots.txt check, request, parsing. It returns facts; the manager decides what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from crawler import clock, logs
from crawler.core.html import charsets, link_codec, links, shells
from crawler.core.html.document import Document, document_of
from crawler.core.html.page_metadata import directives_of
from crawler.core.pages.cache_policy import conditions, is_unchanged
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.host_rules import MAX_SLICE_WAIT_S
from crawler.core.protocol.messages import EXTERNAL, SITEMAP, PageResult, PageTask
from crawler.core.sitemaps.formats import named_in_robots
from crawler.core.urls.normalise import normalise, origin_of
from crawler.fetcher.capture import NO_CAPTURE, Capture
from crawler.fetcher.host_slot import HostSlot, RateLimited
from crawler.fetcher.login import LoginKeeper
from crawler.fetcher.login_form import logout_links
from crawler.fetcher.rendering import PageRenderer, crashed, shell_of
from crawler.fetcher.robots_check import RobotsChecker, RobotsDecision
from crawler.fetcher.sitemap import MAX_SITEMAP_BODY_BYTES, with_entries
from crawler.http import memory_budget
from crawler.http.errors import FetchError, one_line
from crawler.http.fetcher import Fetcher, FetchResult, anything, is_html, nothing
from crawler.http.memory_budget import LARGE_BODY

if TYPE_CHECKING:
    from crawler.capabilities.browser.result import Rendering


class PageFetcher:
    """Fetches the pages of one slice over one connection. `robots` is None when robots.txt is not obeyed.

    With `reports_sitemaps` the first result of each origin names the sitemaps of its robots.txt, whatever the outcome
    of the page itself. `robots_token` is the crawler's name in directives. `timeout` limits a request for a page or a
    link to another site, in seconds. It does not limit robots.txt, whose result all crawls share, nor sitemaps, which
    may be large.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        robots: RobotsChecker | None,
        slot: HostSlot,
        now: Callable[[], float] = clock.epoch_seconds,
        *,
        robots_token: str,
        reports_sitemaps: bool = False,
        sketches: bool = False,
        capture: Capture = NO_CAPTURE,
        timeout: float | None = None,
        finds_shells: bool = False,
        renderer: PageRenderer | None = None,
        login: LoginKeeper | None = None,
    ) -> None:
        self._fetcher, self._robots, self._slot, self._now = fetcher, robots, slot, now
        self._reports_sitemaps, self._capture = reports_sitemaps, capture
        self._result_of = partial(result_of, sketches=sketches, robots_token=robots_token)
        self._timeout, self._finds_shells, self._renderer = timeout, finds_shells, renderer
        self._login = login
        self._reported_origins: set[str] = set()  # origins
        self._head_requests: dict[int, int] = {}  # external link -> requests made for it, when GET is still to come

    def fetch(self, task: PageTask) -> PageResult | RateLimited:
        """The result of the page, or when its host may be asked."""
        result = self._fetch(task) if self._login is None else self._login.fetch(task, self._fetch)
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
            if self._login is not None:
                self._login.form.check(task.url, body, None)
            with memory_guard(body):
                return with_entries(result_of(task, body, fetched_at, requests), body, task.url)
        return self._fetch_page(task, fetched_at, requests)

    def _fetch_page(self, task: PageTask, fetched_at: float, requests: int) -> PageResult:
        if self._capture or self._finds_shells or self._renderer is not None or self._login is not None:
            return self._fetch_with_document(task, fetched_at, requests)
        fetched = self._fetcher.get(task.url, headers=conditions(task), seconds=self._timeout)
        with memory_guard(fetched):
            return self._result_of(task, fetched, fetched_at, requests)

    def _fetch_with_document(self, task: PageTask, fetched_at: float, requests: int) -> PageResult:
        """Fetch the page, render it if a browser is to do so, and capture its fields and content."""
        sent = self._fetcher.get(task.url, wants=self._capture.wants, headers=conditions(task), seconds=self._timeout)
        received = self._capture.as_without_capture(sent)
        fetched, rendering = received, None
        with memory_guard(received):
            if self._renderer is not None:
                try:
                    fetched, rendering = self._renderer.render(task, fetched)
                except FetchError as error:  # the browser crashed
                    return crashed(task, fetched, fetched_at, requests, str(error))
            html = html_of(task, fetched)
            document = document_of(html) if html is not None else None
            if self._login is not None:
                self._login.form.check(task.url, fetched, document)
            if self._finds_shells and document is not None and (shell := shells.reason(document)):
                return shell_of(task, fetched, fetched_at, requests, shell)
            result = self._result_of(
                task, fetched, fetched_at, requests, document, shown=rendering, stays_logged_in=self._login is not None
            )
            body = fetched.body if document is not None else None
            return self._capture.capture(result, received, document, task.url, body, rendering)

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


def result_of(
    task: PageTask,
    fetched: FetchResult,
    fetched_at: float,
    requests_before: int = 0,
    document: Document | None = None,
    *,
    sketches: bool = False,
    robots_token: str = "",
    shown: Rendering | None = None,
    stays_logged_in: bool = False,
) -> PageResult:
    """The result of a page, with links and metadata if it is HTML (`document`, if parsed already); with `sketches`
    also the simhash of its text. `robots_token` is the crawler's name in directives. `shown`: how a browser rendered
    it, if one did. With `stays_logged_in`, links whose text says that they log out are named."""
    html = document or html_of(task, fetched)
    page = links.extract(html, task.url, sketches=sketches) if html is not None else links.NOTHING
    if shown is not None and html is not None:
        visited = (normalise(url, task.url) for url in shown.links)
        page = links.with_links(page, [url for url in visited if url])
    redirect_to = ""
    if fetched.outcome is Outcome.REDIRECT and fetched.location:
        redirect_to = normalise(fetched.location, task.url) or ""
    unchanged = is_unchanged(task, fetched.http_status)
    return PageResult(
        id=task.id,
        attempt=task.attempt,
        outcome=Outcome.UNCHANGED if unchanged else fetched.outcome,
        http_status=fetched.http_status,
        content_type=fetched.content_type,
        title=page.title,
        redirect_to=redirect_to,
        links=page.links,
        rels=page.rels,
        link_keys=link_codec.keys(page.links),
        linkage=link_codec.packed(page.links, page.occurrences, task.url),
        directives=directives_of(page.metas, fetched.robots_tags, robots_token).text,
        bytes=fetched.bytes_read,
        elapsed_ms=fetched.elapsed_ms,
        requests=requests_before + fetched.requests + (shown.own_requests if shown is not None else 0),
        fetched_at=fetched_at,
        retry_after=fetched.retry_after,
        etag=task.etag if unchanged else fetched.etag,  # of an unchanged page: what the server was asked about
        last_modified=task.last_modified if unchanged else fetched.last_modified,
        error=fetched.error or page.cut or _redirect_error(fetched, redirect_to) or (shown.error if shown else ""),
        headers=fetched.headers,
        first_byte_ms=fetched.first_byte_ms,
        certificate_error=fetched.certificate_error,
        facts=page.facts,
        rendering=task.rendering if shown is not None else "",
        load=shown.load if shown is not None else None,
        logout_links=logout_links(page) if stays_logged_in else (),
    )


def _redirect_error(fetched: FetchResult, redirect_to: str) -> str:
    """Explains a redirect that cannot be followed; "" for others."""
    if redirect_to or fetched.outcome is not Outcome.REDIRECT or not fetched.location:
        return ""
    return one_line(f"it redirects to what is not a web address: {fetched.location!r}")


def html_of(task: PageTask, fetched: FetchResult) -> bytes | None:
    """A page's HTML in UTF-8; None if it is not HTML, or not a success."""
    if task.kind == SITEMAP or fetched.outcome is not Outcome.SUCCESS or not fetched.body:
        return None
    if not is_html(fetched.content_type or "text/html"):
        return None
    return charsets.utf_8(fetched.body, fetched.content_type_header)
