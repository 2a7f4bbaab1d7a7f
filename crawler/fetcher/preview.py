"""Tries extraction rules on one page before a crawl. Fetches it as the crawl would; stores nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from crawler import conf
from crawler.core.errors import BadInput
from crawler.core.extraction import extractor
from crawler.core.html import charsets
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy, sent_values
from crawler.core.robots.user_agent import product_token
from crawler.core.urls.normalise import normalise, origin_of, parse_user_url
from crawler.crawls.crawl_checks import with_checks
from crawler.crawls.credentials import check_usable, own_hosts
from crawler.crawls.start import checked_options
from crawler.fetcher.page_step import CannotPrepare, prepare
from crawler.fetcher.robots_check import decision_by, entry_of
from crawler.fetcher.xpath.evaluator import Evaluator
from crawler.http.client import HttpFetcher, fetcher_for
from crawler.http.fetcher import FetchResult, is_html
from crawler.http.guard import check_web_address, guard_of
from crawler.http.robots import fetch_robots
from crawler.reports.extraction_text import notes_of

MAX_HOPS = 5  # redirects that are followed
REQUEST_TIMEOUT_S = 10.0  # of each request: the user waits for it
TOTAL_TIMEOUT_S = 30.0  # after which no further request is made
TOO_SLOW = "it takes too long, including its redirects"


@dataclass(frozen=True)
class Row:
    """The result of one rule."""

    name: str
    value: Any  # None = nothing
    note: str  # a problem with the value; "" = none


@dataclass(frozen=True)
class Preview:
    """The results of all rules."""

    url: str  # after redirects
    rows: tuple[Row, ...] = ()
    trouble: str = ""  # why there is no page; "" = there is one


def preview(
    typed: str,
    options: CrawlOptions,
    *,
    start_urls: Sequence[str],
    allow_private: bool = False,
    sealed: str = "",
) -> Preview:
    """Apply the rules of these options to the page at the URL that a user typed. It is fetched as a crawl from
    `start_urls` would fetch it: the same robots.txt check, address check, hosts that get the credentials, and what
    the crawl does first. BadInput for invalid input; errors of the page are in the result."""
    url = parse_user_url(typed)
    options = checked_options(options, allow_private=allow_private)
    if not options.fields:
        raise BadInput("fields", "Write at least one rule to try, such as: title: h1")
    guard = guard_of(options.private_hosts)
    check_web_address(guard, url, "try_url")
    check_usable(guard, sealed)
    own = own_hosts(start_urls, options)
    options = with_checks(options, sealed, own)
    policy = _policy(options, own, sealed)
    with fetcher_for(policy, guard, REQUEST_TIMEOUT_S) as fetcher:
        ends = time.monotonic() + TOTAL_TIMEOUT_S
        try:
            prepare(policy, fetcher, lambda: time.monotonic() <= ends)
        except CannotPrepare as error:
            return Preview(error.url, trouble=str(error))
        return _tried(fetcher, url, options)


def _tried(fetcher: HttpFetcher, start: str, options: CrawlOptions) -> Preview:
    url, ends = start, time.monotonic() + TOTAL_TIMEOUT_S
    for _ in range(MAX_HOPS + 1):
        refusal = _refusal(fetcher, url, ends, _agent(options)) if options.obey_robots else None
        if refusal is not None:
            return Preview(url, trouble=refusal)
        if time.monotonic() > ends:
            return Preview(url, trouble=TOO_SLOW)
        fetched = fetcher.get(url, seconds=options.page_timeout)
        target = normalise(fetched.location, url) if fetched.outcome is Outcome.REDIRECT else None
        if target is None:
            return _read(fetched, url, options)
        url = target
    return Preview(url, trouble=f"it redirects more than {MAX_HOPS} times in a row")


def _refusal(fetcher: HttpFetcher, url: str, ends: float, user_agent: str) -> str | None:
    """Why robots.txt does not allow the page; None if it does."""
    found = fetch_robots(fetcher, origin_of(url), lambda: time.monotonic() <= ends)
    if time.monotonic() > ends:
        return TOO_SLOW
    return decision_by(entry_of(found), product_token(user_agent)).refusal(url)


def _read(fetched: FetchResult, url: str, options: CrawlOptions) -> Preview:
    if fetched.outcome is not Outcome.SUCCESS:
        return Preview(url, trouble=fetched.error or f"the server returned {fetched.http_status}")
    if not fetched.body or not is_html(fetched.content_type or "text/html"):
        return Preview(url, trouble=f"it is not an HTML page but {fetched.content_type or 'empty'}")
    html = charsets.utf_8(fetched.body, fetched.content_type_header)
    with closing(Evaluator()) as evaluate:
        found = extractor.extract(html, url, options.fields, evaluate)
    notes = notes_of(found)
    return Preview(url, tuple(_row(name, found.values[name], notes.get(name, "")) for name in extractor.names(options)))


def _row(name: str, value: Any, note: str) -> Row:
    return Row(name, value, note or ("nothing matches the selector" if value in (None, []) else ""))


def _agent(options: CrawlOptions) -> str:
    return options.user_agent or conf.user_agent()


def _policy(options: CrawlOptions, own: tuple[str, ...], sealed: str) -> FetchPolicy:
    return FetchPolicy(
        **sent_values(options) | {"user_agent": _agent(options), "delay": 0.0, "concurrency": 1},
        private_hosts=options.private_hosts,
        max_body_bytes=conf.max_body_bytes(),
        own_hosts=own if sealed else (),
        sealed=sealed,
    )
