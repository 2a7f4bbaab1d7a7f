"""How a tick uses the HTTP response cache (RFC 9111): before dispatch, while collecting, and after the commit."""

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
from crawler.hooks.loading import ON_PAGE, names_with
from crawler.manager.context import TickContext
from crawler.storage import queries, response_cache
from crawler.storage.queries import OpenPage


@dataclass(frozen=True)
class CacheHits:
    """What the cache has for some open pages."""

    results: list[PageResult] = field(default_factory=list)  # of pages that need no request
    validators: Mapping[int, tuple[str, str]] = field(default_factory=dict)  # page -> ETag and Last-Modified


def look_up(context: TickContext, rows: Iterable[OpenPage]) -> CacheHits:
    """Called before pages are handed out. The results are processed like those of fetch jobs
    (`collect.process_results`); the tasks of the other pages carry the validators.

    A response no older than `response_ttl` is used without a request; with `revisit` older ones are revalidated.
    robots.txt counts as it was when the response was stored, for as long as the response is fresh.
    """
    options = context.options
    wanted = {row.url: row for row in rows if cache_policy.is_cached_kind(row.kind)}
    if not cache_policy.uses_cache(options) or not wanted:
        return CacheHits()
    partition = _partition(context)
    results: list[PageResult] = []
    if options.response_ttl is not None:
        for url, known in response_cache.load(partition, wanted, context.now() - options.response_ttl).items():
            row = wanted.pop(url)
            results.append(cache_policy.reused(row.id, row.attempts, known))
    if not options.revisit:
        return CacheHits(results)
    return CacheHits(
        results, {wanted[url].id: sent for url, sent in response_cache.validators(partition, wanted).items()}
    )


def fill_in_unchanged(context: TickContext, results: Sequence[PageResult]) -> tuple[list[PageResult], int]:
    """The results with unchanged pages filled in from the cache, and the number of wasted requests.

    The cached response may be gone since the request was made: deleted, or replaced by another crawl. Such a result is
    dropped. Its page is still open and is fetched again when its slice has ended: without validators, or with others,
    and no attempt is counted.
    """
    unchanged = [result.id for result in results if result.outcome is Outcome.UNCHANGED]
    if not unchanged:
        return list(results), 0
    urls = _urls(context.id, unchanged)
    known = response_cache.load(_partition(context), urls.values())
    kept: list[PageResult] = []
    wasted_requests = 0
    for result in results:
        if result.outcome is not Outcome.UNCHANGED or result.id not in urls:  # closed by the same report read before
            kept.append(result)
            continue
        answer = known.get(urls[result.id])
        filled = cache_policy.confirmed(result, answer) if answer else None
        if filled is None:
            wasted_requests += result.requests
        else:
            kept.append(filled)
    return kept, wasted_requests


def select_cacheable(context: TickContext, closings: Iterable[PageResult]) -> dict[str, PageResult]:
    """URL -> result, of those to be cached; called while their pages are still open."""
    if not cache_policy.uses_cache(context.options):
        return {}
    worth = {
        result.id: result
        for result in closings
        if result.outcome is Outcome.UNCHANGED or cache_policy.is_cacheable(result)
    }
    return {url: worth[page] for page, url in _urls(context.id, worth).items()} if worth else {}


def store(context: TickContext, results: Mapping[str, PageResult]) -> None:
    """Cache the responses, after the pages are committed. If this is lost, the next crawl fetches the pages again."""
    if not results:
        return
    partition, now = _partition(context), context.now()
    unchanged = [url for url, result in results.items() if result.outcome is Outcome.UNCHANGED]
    response_cache.refresh(partition, unchanged, now)
    response_cache.store(partition, {url: results[url] for url in results.keys() - unchanged}, now)


def _partition(context: TickContext) -> bytes:
    """The cache partition of this crawl. Credentials that cannot be decrypted get a partition of their own."""
    sealed = context.crawl.sealed
    try:
        sent = to_json(encryption.opened(sealed)) + conf.secret_key().encode() if sealed else b""
    except SealBroken:
        sent = sealed.encode()
    return cache_policy.cache_partition(context.options, sent, names_with(ON_PAGE))


def _urls(crawl: UUID, ids: Iterable[int]) -> dict[int, str]:
    """Page -> URL, of the open pages whose responses are cached."""
    rows = queries.open_pages(crawl, ids)
    return {page: row.url for page, row in rows.items() if cache_policy.is_cached_kind(row.kind)}
