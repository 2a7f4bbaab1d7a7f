"""How a tick uses the HTTP response cache (RFC 9111): before dispatch, while collecting, and after the commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from crawler import conf, encryption
from crawler.core.access.credentials import to_json
from crawler.core.errors import SealBroken
from crawler.core.installation.backpressure import Shortage
from crawler.core.pages import cache_policy
from crawler.core.pages.cache_policy import CachedResponse
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.page_readers import reader_names
from crawler.crawls.holds import note_shortage
from crawler.manager.context import TickContext
from crawler.storage import queries, response_cache
from crawler.storage.queries import OpenPage


class CacheHits(msgspec.Struct, frozen=True):
    """What the cache has for some open pages."""

    results: list[PageResult] = msgspec.field(default_factory=list)  # of pages that need no request
    validators: Mapping[int, tuple[str, str]] = msgspec.field(default_factory=dict)  # page -> ETag and Last-Modified


def look_up(context: TickContext, rows: Iterable[OpenPage]) -> CacheHits:
    """Called before pages are handed out. The results are processed like results of fetch jobs
    (`collect.process_results`); the tasks of the other pages carry the validators.

    A response no older than `response_ttl` is used without a request; with `revisit` older ones are revalidated.
    robots.txt counts as it was when the response was stored, for as long as the response is fresh. In a crawl that
    keeps content, a response whose content is no longer there is not used: its page is requested without conditions.
    """
    options = context.options
    # The responses that this crawl shares may be of private addresses.
    wanted = {row.url: row for row in rows if cache_policy.is_cached_kind(row.kind) and not row.public_only}
    if not cache_policy.uses_cache(options) or not wanted:
        return CacheHits()
    partition = _partition(context)
    results: list[PageResult] = []
    if options.response_ttl is not None:
        fresh = response_cache.load(partition, wanted, context.now() - options.response_ttl)
        contents = _contents(context, partition, fresh)
        for url, kept in contents.items():
            row = wanted.pop(url)
            result = cache_policy.reused(row.id, row.attempts, fresh[url])
            results.append(msgspec.structs.replace(result, kept=kept))
    if not options.revisit:
        return CacheHits(results)
    validators = _validators(partition, wanted) if options.keep else response_cache.validators(partition, wanted)
    return CacheHits(results, {wanted[url].id: sent for url, sent in validators.items()})


def _validators(partition: bytes, urls: Iterable[str]) -> dict[str, tuple[str, str]]:
    """URL -> ETag and Last-Modified, of the responses whose content is still there."""
    from crawler.storage.content import copies  # which loads warcio: only for crawls that keep content

    known = response_cache.load(partition, urls)
    there = copies.existing(_object(place) for one in known.values() for place in one.result.kept.values())
    return {
        url: (one.etag, one.last_modified)
        for url, one in known.items()
        if (one.etag or one.last_modified) and all(_object(place) in there for place in one.result.kept.values())
    }


def _object(place: Any) -> str:
    return str(place[0])


def _contents(context: TickContext, partition: bytes, known: Mapping[str, CachedResponse]) -> dict[str, dict[str, Any]]:
    """URL -> where the content of the response is in this crawl's own objects, to which it was copied; without those
    whose content cannot be copied, which are forgotten. Called before the pages are committed: a crash leaves objects
    without references, which are deleted when the crawl is over."""
    none = {url: dict[str, Any]() for url, one in known.items() if not one.result.kept}
    kept = {url: one.result.kept for url, one in known.items() if one.result.kept}
    if not kept:
        return none
    from crawler.storage.content import copies  # as above

    copied, has_room = copies.copied(str(context.id), kept)
    if not has_room:
        note_shortage(Shortage.STORAGE_FULL)
    else:
        response_cache.forget(partition, kept.keys() - copied.keys())
    response_cache.replace_content(partition, {url: (kept[url], places) for url, places in copied.items()})
    return none | copied


def fill_in_unchanged(context: TickContext, results: Sequence[PageResult]) -> tuple[list[PageResult], int]:
    """The results with unchanged pages filled in from the cache, and the number of wasted requests.

    The cached response may be gone since the request was made: deleted, or replaced by another crawl; or its content
    is. Such a result is
    dropped. Its page is still open and is fetched again when its slice has ended: without validators, or with others,
    and no attempt is counted.
    """
    unchanged = [result.id for result in results if result.outcome is Outcome.UNCHANGED]
    if not unchanged:
        return list(results), 0
    urls = _urls(context.id, unchanged)
    partition = _partition(context)
    known = response_cache.load(partition, urls.values())
    filled = {
        result.id: confirmed
        for result in results
        if result.outcome is Outcome.UNCHANGED
        and result.id in urls
        and (answer := known.get(urls[result.id]))
        and (confirmed := cache_policy.confirmed(result, answer))
    }
    contents = _contents(context, partition, {urls[page]: known[urls[page]] for page in filled})
    kept: list[PageResult] = []
    wasted_requests = 0
    for result in results:
        if result.outcome is not Outcome.UNCHANGED or result.id not in urls:  # closed by the same report read before
            kept.append(result)
            continue
        if result.id in filled and urls[result.id] in contents:
            kept.append(msgspec.structs.replace(filled[result.id], kept=contents[urls[result.id]]))
        else:
            wasted_requests += result.requests
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
    return cache_policy.cache_partition(context.options, sent, reader_names())


def _urls(crawl: UUID, ids: Iterable[int]) -> dict[int, str]:
    """Page -> URL, of the open pages whose responses are cached."""
    rows = queries.open_pages(crawl, ids)
    return {page: row.url for page, row in rows.items() if cache_policy.is_cached_kind(row.kind)}
