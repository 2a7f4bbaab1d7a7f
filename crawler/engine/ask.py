"""Asks for one page: may it be asked for, what did the server say, which links are on it. Facts only; what follows
from them is the manager's to decide."""

from __future__ import annotations

import time
from collections.abc import Callable

from crawler.core import charsets, links
from crawler.core.freshness import conditions, is_unchanged
from crawler.core.outcomes import Outcome
from crawler.core.urls import normalise
from crawler.core.work import PageResult, PageTask
from crawler.engine.permission import Permission
from crawler.engine.turns import Turns
from crawler.fetching.fetcher import Fetched, Fetcher, is_html


class Asker:
    """Asks for the pages of one slice over one fetcher. `permission` is None when robots.txt is not obeyed."""

    def __init__(
        self, fetcher: Fetcher, permission: Permission | None, turns: Turns, now: Callable[[], float] = time.time
    ) -> None:
        self._fetcher, self._permission, self._turns, self._now = fetcher, permission, turns, now

    def ask(self, task: PageTask) -> PageResult | None:
        """What came of the page; None when its host must not be asked yet."""
        if self._permission is not None:
            ruling = self._permission.ruling(task.url)
            if ruling is None:
                return None
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
        if not self._turns.wait():
            return None
        requests = self._permission.counted() if self._permission else 0
        fetched_at = self._now()
        return result_of(task, self._fetcher.get(task.url, headers=conditions(task)), fetched_at, requests)


def result_of(task: PageTask, fetched: Fetched, fetched_at: float, requests_before: int = 0) -> PageResult:
    """The result of a page, with the title and links of its body when that is HTML."""
    title, found = "", tuple[str, ...]()
    if fetched.outcome is Outcome.SUCCESS and fetched.body and is_html(fetched.content_type or "text/html"):
        text = charsets.decode(fetched.body, fetched.content_type_header)
        extracted = links.extract(text, task.url)
        title, found = extracted.title, extracted.links
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
        title=title,
        redirect_to=redirect_to,
        links=found,
        bytes=fetched.bytes_read,
        elapsed_ms=fetched.elapsed_ms,
        requests=requests_before + fetched.requests,
        fetched_at=fetched_at,
        retry_after=fetched.retry_after,
        etag=task.etag if unchanged else fetched.etag,  # of an unchanged page: what the server was asked about
        last_modified=task.last_modified if unchanged else fetched.last_modified,
        error=fetched.error,
    )
