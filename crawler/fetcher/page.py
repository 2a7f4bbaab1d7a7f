"""Asks for one page: may it be asked for, what did the server say, which links are on it. Facts only; what follows
from them is the manager's to decide."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import msgspec

from crawler import clock, conf, logs
from crawler.core.crawl.cache_policy import conditions, is_unchanged
from crawler.core.crawl.messages import EXTERNAL, SITEMAP, PageResult, PageTask
from crawler.core.crawl.outcomes import Outcome
from crawler.core.crawl.politeness import PATIENCE
from crawler.core.html import charsets, link_codec, links
from crawler.core.html.directives import directives_of
from crawler.core.html.document import Document, document_of
from crawler.core.sitemaps.entries import named_in_robots
from crawler.core.sitemaps.reading import MAX_BYTES, read
from crawler.core.urls.normalise import normalise, origin_of
from crawler.fetcher.capture import NO_MORE, More
from crawler.fetcher.host_slot import NotYet, Turns
from crawler.fetcher.robots_check import Permission, Ruling
from crawler.http import memory_budget
from crawler.http.errors import one_line
from crawler.http.fetcher import Fetched, Fetcher, anything, is_html, nothing
from crawler.http.memory_budget import LARGE_BODY

# A sitemap as a fetch job gets it: what it names, and what was wrong with it.

MAX_BODY = MAX_BYTES + 1  # bytes kept of the body: one more than are read, so that reading knows of the rest
STEP = 64 * 1024  # bytes read at a time


def with_entries(result: PageResult, fetched: Fetched, url: str) -> PageResult:
    """The result of a sitemap that was fetched. What is no sitemap is malformed, whatever the server calls it."""
    if result.outcome is not Outcome.SUCCESS:
        return result
    found = read(_pieces(fetched.body), url)
    outcome = Outcome.SUCCESS if found.is_sitemap else Outcome.MALFORMED
    return msgspec.structs.replace(result, outcome=outcome, entries=found.entries, error=found.error)


def _pieces(body: bytes) -> Iterator[bytes]:
    return (body[at : at + STEP] for at in range(0, len(body), STEP))


class Asker:
    """Asks for the pages of one slice over one fetcher. `permission` is None when robots.txt is not obeyed.

    With `tells_sitemaps` the first result of each origin tells the sitemaps its robots.txt names, whatever came of the
    page itself.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        permission: Permission | None,
        turns: Turns,
        now: Callable[[], float] = clock.epoch_seconds,
        *,
        tells_sitemaps: bool = False,
        sketches: bool = False,
        more: More = NO_MORE,
    ) -> None:
        self._fetcher, self._permission, self._turns, self._now = fetcher, permission, turns, now
        self._tells_sitemaps, self._sketches, self._more = tells_sitemaps, sketches, more
        self._told: set[str] = set()  # origins
        self._headed: dict[int, int] = {}  # external link -> requests made for it, when GET is still to come

    def ask(self, task: PageTask) -> PageResult | NotYet:
        """What came of the page, or when its host may be asked."""
        result = self._answer(task)
        if isinstance(result, NotYet) or not self._tells_sitemaps:
            return result
        return msgspec.structs.replace(result, sitemaps=self._sitemaps(task.url))

    def _answer(self, task: PageTask) -> PageResult | NotYet:
        if self._permission is not None:
            ruling = self._permission.ruling(task.url)
            if isinstance(ruling, NotYet):
                return ruling
            refusal = ruling.refusal(task.url)
            if refusal is not None:
                return PageResult(
                    id=task.id,
                    attempt=task.attempt,
                    outcome=ruling.outcome,
                    robots_unreachable=not ruling.reachable and ruling.outcome is Outcome.ROBOTS,
                    requests=self._permission.counted(),
                    error=refusal,
                )
        not_yet = self._turns.take()
        if not_yet is not None:
            return not_yet
        requests = self._permission.counted() if self._permission else 0
        if logs.tells_starts():
            logs.tell_start(task)
        fetched_at = self._now()
        if task.kind == EXTERNAL:
            return self._checked(task, fetched_at, requests)
        if task.kind == SITEMAP:
            body = self._fetcher.get(task.url, wants=anything, truncate_at=MAX_BODY)
            with _in_turn(body):
                return with_entries(result_of(task, body, fetched_at, requests), body, task.url)
        if self._more:
            return self._with_more(task, fetched_at, requests)
        fetched = self._fetcher.get(task.url, headers=conditions(task))
        with _in_turn(fetched):
            return result_of(task, fetched, fetched_at, requests, sketches=self._sketches)

    def _with_more(self, task: PageTask, fetched_at: float, requests: int) -> PageResult:
        """The page with what its crawl wants beside: fields, and content to be kept."""
        fetched = self._fetcher.get(task.url, wants=self._more.wants, headers=conditions(task))
        fetched = self._more.as_without(fetched)
        with _in_turn(fetched):
            html = _html_of(task, fetched)
            document = document_of(html) if html is not None else None
            result = result_of(task, fetched, fetched_at, requests, document, sketches=self._sketches)
            return self._more.added(result, fetched, document, task.url)

    def _checked(self, task: PageTask, fetched_at: float, requests: int) -> PageResult | NotYet:
        """Whether an external link leads anywhere, asked without credentials.

        HEAD first, and GET at the host's next turn where that has no good answer. A host that is asked seldom would
        make a batch wait for the second, so it is asked with GET at once.
        """
        is_slow = self._turns.next_at - fetched_at > PATIENCE / 2
        if task.id not in self._headed and not is_slow:
            head = self._fetcher.head(task.url, anonymous=True)
            if not needs_get(head):
                return result_of(task, head, fetched_at, requests)
            self._headed[task.id] = requests + head.requests
            not_yet = self._turns.take()
            if not_yet is not None:
                return not_yet
            fetched_at = self._now()
        asked = self._headed.pop(task.id, requests)
        return result_of(task, self._fetcher.get(task.url, wants=nothing, anonymous=True), fetched_at, asked)

    def _sitemaps(self, url: str) -> tuple[str, ...]:
        """What the page's robots.txt names, unless that was told before."""
        origin = origin_of(url)
        ruling = self._permission.ruling(url) if self._permission and origin not in self._told else None
        self._told.add(origin)
        rules = ruling.rules if isinstance(ruling, Ruling) else None
        return named_in_robots(rules.sitemaps, origin) if rules else ()


_turn = threading.Lock()
_at_once = nullcontext()


def _in_turn(fetched: Fetched) -> AbstractContextManager[object]:
    """Large pages are worked on one at a time: while its tree stands, a page takes many times as much memory."""
    return _alone() if len(fetched.body) > LARGE_BODY else _at_once


@contextmanager
def _alone() -> Iterator[None]:
    with _turn:
        try:
            yield
        finally:
            memory_budget.give_back()


def needs_get(head: Fetched) -> bool:
    """Whether GET may do better. It does not where nothing could be sent, nor where the host asks to be left alone."""
    if head.http_status in (429, 503) or head.requests == 0:
        return False
    return head.http_status is None or head.http_status >= 400 or head.outcome is Outcome.MALFORMED


def result_of(
    task: PageTask,
    fetched: Fetched,
    fetched_at: float,
    requests_before: int = 0,
    document: Document | None = None,
    *,
    sketches: bool = False,
) -> PageResult:
    """The result of a page, with what its body says when that is HTML, which may be parsed already; with `sketches` a
    sketch of its text, too."""
    html = document or _html_of(task, fetched)
    page = links.extract(html, task.url, sketches=sketches) if html is not None else links.NOTHING
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
        directives=directives_of(page.metas, fetched.robots_tags, conf.ROBOTS_TOKEN).text,
        bytes=fetched.bytes_read,
        elapsed_ms=fetched.elapsed_ms,
        requests=requests_before + fetched.requests,
        fetched_at=fetched_at,
        retry_after=fetched.retry_after,
        etag=task.etag if unchanged else fetched.etag,  # of an unchanged page: what the server was asked about
        last_modified=task.last_modified if unchanged else fetched.last_modified,
        error=fetched.error or page.cut or _leads_nowhere(fetched, redirect_to),
        headers=fetched.headers,
        first_byte_ms=fetched.first_byte_ms,
        facts=page.facts,
    )


def _leads_nowhere(fetched: Fetched, redirect_to: str) -> str:
    """What a person should know of a redirect that cannot be followed."""
    if redirect_to or fetched.outcome is not Outcome.REDIRECT or not fetched.location:
        return ""
    return one_line(f"it redirects to what is not a web address: {fetched.location!r}")


def _html_of(task: PageTask, fetched: Fetched) -> bytes | None:
    """A page's HTML in UTF-8; None for what is none, or no success."""
    if task.kind == SITEMAP or fetched.outcome is not Outcome.SUCCESS or not fetched.body:
        return None
    if not is_html(fetched.content_type or "text/html"):
        return None
    return charsets.utf_8(fetched.body, fetched.content_type_header)
