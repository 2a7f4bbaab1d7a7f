"""Runs pages through Scrapy, and sends the requests it makes for them, in the host's turn and within robots.txt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import msgspec

from crawler import conf
from crawler.capabilities.scrapy import driver, messages
from crawler.capabilities.scrapy.driver import ScrapyEnded, ScrapyExited
from crawler.capabilities.scrapy.options import SCRAPY, ScrapyOptions
from crawler.capabilities.scrapy.settings import USUAL, fixed_settings
from crawler.core.pages.cache_policy import conditions
from crawler.core.pages.code_calls import MAX_ERROR, CodeCall, plain_fields, type_of
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.protocol.added_links import with_links
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.core.urls.normalise import host_of, normalise
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit
from crawler.fetcher.robots_check import RobotsDecision
from crawler.http.errors import one_line
from crawler.http.fetcher import FetchResult, Wants, anything, media_type_of

SPIDER_SECONDS = 60.0  # between two things that Scrapy says about a page: for its callbacks, middlewares and pipelines
MAX_REQUESTS = 20  # for one page
METHODS = frozenset({"GET", "HEAD", "POST"})
STARTS = 2  # of a process, for one page that it has not begun


class ScrapyResult(NamedTuple):
    """What became of a page."""

    sent: FetchResult  # as it was sent
    shown: FetchResult  # as the middlewares left it
    seen: messages.PageDone


def fields_of(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The items of a page as its fields: one item as it is, several as a list for each name, with None
    where an item does not have it."""
    if len(items) == 1:
        return dict(items[0])
    names = dict.fromkeys(name for item in items for name in item)
    return {name: [item.get(name) for item in items] for name in names}


class ScrapyStep(PageStep):
    """The client sends what Scrapy requests for the pages of a slice; it goes to the slice's host only. Robots.txt,
    sitemaps and external links do not run through Scrapy."""

    stage = Stage.CHANGE

    def __init__(self, context: SliceContext, spider: str) -> None:
        policy = context.policy
        self._key, self._host = (context.batch.crawl, policy), context.host
        self._begin = messages.Begin(
            settings=fixed_settings(policy, page_seconds=conf.page_seconds()), usual=dict(USUAL), spider=spider
        )
        self._fetcher, self._slot, self._robots = context.fetcher, context.slot, context.robots
        self._spider = spider
        self._seen: messages.PageDone | None = None  # what Scrapy said about the page under way

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        chosen = ScrapyOptions.of(context.policy)
        return cls(context, chosen.spider) if chosen.engine == SCRAPY else None

    def request(self, visit: Visit, wants: Wants, seconds: float | None) -> PageResult | None:
        """Raises ScrapyMissing, ScrapyUnusable and RequestAborted."""
        try:
            visit.sent, visit.shown, self._seen = self._run(visit.task, wants, seconds)
        except ScrapyEnded as error:
            return PageResult(
                id=visit.task.id,
                attempt=visit.task.attempt,
                outcome=Outcome.CRASHED,
                requests=visit.requests,
                fetched_at=visit.fetched_at,
                process_ended=True,
                error=str(error),
            )
        return None

    def _run(self, task: PageTask, wants: Wants, seconds: float | None) -> ScrapyResult:
        """The page, with all requests made for it."""
        for _ in range(STARTS):
            visit = driver.visit(self._key, self._begin, task.url, task.note)
            try:
                return self._fetch(visit, task, wants, seconds)
            except ScrapyExited:
                if visit.has_begun:
                    raise
            finally:
                visit.end()
        raise ScrapyEnded(driver.ENDED)

    def _fetch(self, visit: driver.PageRun, task: PageTask, wants: Wants, seconds: float | None) -> ScrapyResult:
        headers = conditions(task)
        sent = dict[int, FetchResult]()
        while isinstance(message := visit.next(SPIDER_SECONDS), messages.Request):
            own = {name: value for name, value in message.headers if name.lower() not in _OURS}
            if not sent and message.method == "GET" and message.url == task.url and not message.body:
                wanted = anything if self._spider else wants  # a spider may read any type
                fetched = self._fetcher.get(task.url, wants=wanted, headers={**own, **headers}, seconds=seconds)
            else:
                fetched = self._further(message, own, seconds, len(sent))
            sent[message.request] = fetched
            visit.answer(
                message.request,
                status=fetched.http_status or 0 if _is_usable(fetched) else 0,
                headers=messages.headers_of(fetched.headers),
                body=fetched.body,
                error=fetched.error,
            )
        requests = sum(fetched.requests for fetched in sent.values())
        received, shown = (msgspec.structs.replace(fetched, requests=requests) for fetched in _outcome(message, sent))
        return ScrapyResult(received, shown, message)

    def finish(self, visit: Visit) -> None:
        """What the user's spider yielded: its items as fields, its requests in place of the links. Without a spider of
        the user's the result stays as it is."""
        seen, result, task = self._seen, visit.result, visit.task
        if not self._spider or seen is None or result is None:
            return
        errors, fields = list(seen.errors), dict[str, Any]()
        try:
            fields = plain_fields(fields_of(seen.items))
        except (TypeError, ValueError, OverflowError) as error:
            errors.append(one_line(str(error)))
        links = {url: said for link, said in seen.links.items() if (url := normalise(link, task.url))}
        if result.redirect_to:  # its callback gets the response to it, as in Scrapy
            links.setdefault(result.redirect_to, task.note)
        result = msgspec.structs.replace(result, links=(), link_keys=b"", linkage=b"", rels={})
        result = with_links(result, task.url, [link for link in links if link != result.redirect_to])
        types = {name: type_of(value) for name, value in fields.items()}
        visit.result = msgspec.structs.replace(
            result,
            facts=msgspec.structs.replace(result.facts, fields={**result.facts.fields, **fields}),
            code_calls=(
                *result.code_calls,
                CodeCall(name=self._spider, error="; ".join(errors)[:MAX_ERROR], fields=types),
            ),
            link_notes={link: said for link, said in links.items() if said},
        )

    def _further(
        self, message: messages.Request, headers: Mapping[str, str], seconds: float | None, before: int
    ) -> FetchResult:
        """The response to a further request of the page, by a middleware or a spider."""
        url = normalise(message.url)
        refusal = self._refusal(message, url, before)
        if url is None or refusal:
            return FetchResult(outcome=Outcome.MALFORMED, error=refusal)
        if not self._slot.wait_for_grant():
            return FetchResult(outcome=Outcome.TIMEOUT, error="the host's next request is too far in the future")
        fetched = self._fetcher.request(message.method, url, message.body, headers, seconds=seconds)
        self._slot.record_refusal(url, fetched.http_status, fetched.retry_after)
        self._slot.record_outcome(fetched.outcome, fetched.http_status, fetched.elapsed_ms / 1000)
        return fetched

    def _refusal(self, message: messages.Request, url: str | None, before: int) -> str:
        """Why it is not sent; "" if it is."""
        if url is None:
            return one_line(f"not sent: {message.url!r} is not a web address")
        if host_of(url) != self._host:
            return f"not sent: {host_of(url)} is not the page's host"
        if message.method not in METHODS:
            return f"not sent: {message.method} is not one of {', '.join(sorted(METHODS))}"
        if before >= MAX_REQUESTS:
            return f"not sent: a page may lead to {MAX_REQUESTS} requests"
        ruling = self._robots.decide(url) if self._robots is not None else None
        if isinstance(ruling, RobotsDecision):
            return ruling.refusal(url) or ""
        return "not sent: robots.txt cannot be fetched now" if ruling is not None else ""


_OURS = frozenset(
    {
        "user-agent",
        "accept-encoding",
        "host",
        "connection",
        "content-length",
        "transfer-encoding",
        "proxy-authorization",
    }
)
"""Headers that the client decides, in lower case."""


def _is_usable(fetched: FetchResult) -> bool:
    """Whether there is a response that Scrapy may see: its body is complete, or was not wanted."""
    return fetched.http_status is not None and fetched.outcome is of_status(fetched.http_status)


def _outcome(seen: messages.PageDone, sent: Mapping[int, FetchResult]) -> tuple[FetchResult, FetchResult]:
    """What was received, and what became of it."""
    errors = one_line("; ".join(seen.errors))
    if not seen.status:  # no response, or an exception of a middleware in its place
        last = next(iter(reversed(list(sent.values()))), None)
        if last is None:
            last = FetchResult(outcome=Outcome.CRASHED, error=errors or "Scrapy made no request for this page")
        return last, last
    received = sent.get(seen.request)
    if received is None:
        received = shown = _made(seen)
    else:
        shown = received if seen.body is None else msgspec.structs.replace(received, body=seen.body, share=None)
    return received, msgspec.structs.replace(shown, error=shown.error or errors)


def _made(seen: messages.PageDone) -> FetchResult:
    """A response that a middleware has made."""
    content_type = messages.value_of(seen.headers, "content-type")
    return FetchResult(
        outcome=of_status(seen.status),
        http_status=seen.status,
        content_type=media_type_of(content_type),
        content_type_header=content_type,
        location=messages.value_of(seen.headers, "location"),
        headers="\n".join(f"{name}: {value}" for name, value in seen.headers),
        body=seen.body or b"",
    )


PAGE_STEPS = (ScrapyStep,)
