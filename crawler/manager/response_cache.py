"""What crawls take from the memory of answers, and what they leave in it: the three moments of a tick that touch it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from crawler import conf, encryption
from crawler.core.access.credentials import to_json
from crawler.core.crawl import cache_policy
from crawler.core.crawl.messages import PageResult
from crawler.core.crawl.outcomes import Outcome
from crawler.core.errors import SealBroken
from crawler.manager.context import Desk
from crawler.storage import queries, response_cache
from crawler.storage.queries import OpenPage


@dataclass(frozen=True)
class Known:
    """What is remembered of some open pages."""

    results: list[PageResult] = field(default_factory=list)  # of pages that need not be asked for
    validators: Mapping[int, tuple[str, str]] = field(default_factory=dict)  # page -> ETag and Last-Modified


def remembered(desk: Desk, rows: Iterable[OpenPage]) -> Known:
    """To be asked before pages are handed out. Results are to be taken in like those of fetch jobs
    (`collect.take_in`), and the other pages' tasks carry the validators.

    An answer no older than `response_ttl` is used without asking; with `revisit` the server is asked whether older ones
    have changed. robots.txt counts as it was when the answer was had, for as long as that is good for.
    """
    options = desk.options
    wanted = {row.url: row for row in rows if cache_policy.is_kept(row.kind)}
    if not cache_policy.uses_memory(options) or not wanted:
        return Known()
    circle = _circle(desk)
    results: list[PageResult] = []
    if options.response_ttl is not None:
        for url, known in response_cache.recall(circle, wanted, desk.now() - options.response_ttl).items():
            row = wanted.pop(url)
            results.append(cache_policy.reused(row.id, row.attempts, known))
    if not options.revisit:
        return Known(results)
    return Known(results, {wanted[url].id: sent for url, sent in response_cache.validators(circle, wanted).items()})


def confirmed(desk: Desk, results: Sequence[PageResult]) -> tuple[list[PageResult], int]:
    """The results with unchanged pages filled in from the memory, and the requests that were made in vain.

    The answer may be gone since the server was asked about it: deleted, or replaced by another crawl's. Such a result
    is dropped, and its page, still open, is asked for again when its slice has ended: without validators, or with
    others, and without an attempt having been counted.
    """
    unchanged = [result.id for result in results if result.outcome is Outcome.UNCHANGED]
    if not unchanged:
        return list(results), 0
    urls = _urls(desk.id, unchanged)
    known = response_cache.recall(_circle(desk), urls.values())
    kept: list[PageResult] = []
    in_vain = 0
    for result in results:
        if result.outcome is not Outcome.UNCHANGED or result.id not in urls:  # closed by the same report read before
            kept.append(result)
            continue
        answer = known.get(urls[result.id])
        filled = cache_policy.confirmed(result, answer) if answer else None
        if filled is None:
            in_vain += result.requests
        else:
            kept.append(filled)
    return kept, in_vain


def to_remember(desk: Desk, closings: Iterable[PageResult]) -> dict[str, PageResult]:
    """URL -> result, of those the memory is to learn; to be asked while their pages are still open."""
    if not cache_policy.uses_memory(desk.options):
        return {}
    worth = {
        result.id: result
        for result in closings
        if result.outcome is Outcome.UNCHANGED or cache_policy.is_worth_remembering(result)
    }
    return {url: worth[page] for page, url in _urls(desk.id, worth).items()} if worth else {}


def remember(desk: Desk, results: Mapping[str, PageResult]) -> None:
    """Store them, once the pages are committed: should this be lost, they are asked for again by the next crawl."""
    if not results:
        return
    circle, now = _circle(desk), desk.now()
    unchanged = [url for url, result in results.items() if result.outcome is Outcome.UNCHANGED]
    response_cache.confirm(circle, unchanged, now)
    response_cache.remember(circle, {url: results[url] for url in results.keys() - unchanged}, now)


def _circle(desk: Desk) -> bytes:
    """Credentials that cannot be read any more are like no others."""
    sealed = desk.crawl.sealed
    try:
        sent = to_json(encryption.opened(sealed)) + conf.secret_key().encode() if sealed else b""
    except SealBroken:
        sent = sealed.encode()
    return cache_policy.circle_of(desk.options, sent)


def _urls(crawl: UUID, ids: Iterable[int]) -> dict[int, str]:
    """Page -> URL, of those pages that are open and whose answers are kept."""
    rows = queries.open_pages(crawl, ids)
    return {page: row.url for page, row in rows.items() if cache_policy.is_kept(row.kind)}
