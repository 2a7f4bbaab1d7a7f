"""The rules of the response cache (RFC 9111): which responses are stored, who shares them, and how they are reused."""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from typing import Any

import msgspec

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.code_calls import CodeCall
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PAGE, PageResult, PageTask

NOT_MODIFIED = 304
GONE_STATUSES = frozenset({404, 410})
MIN_UNCHANGED_S = 60.0  # between Last-Modified and the response, for the date alone to be a validator

NO_VALIDATORS = ("", "")


class CachedResponse(msgspec.Struct, frozen=True):
    """A response in the cache."""

    result: PageResult
    stored_at: float  # epoch seconds when it was received or last confirmed
    etag: str
    last_modified: str


def uses_cache(options: CrawlOptions) -> bool:
    """Whether a crawl reads and writes the response cache."""
    return options.revisit or options.response_ttl is not None


def cache_partition(options: CrawlOptions, sent: bytes = b"", readers: Sequence[str] = ()) -> bytes:
    """The partition key of the cache: crawls share responses only if they agree in all of these.

    1. The credentials, headers and proxy they send (`sent`): a private response stays private.
    2. The private addresses they may request: the cache must not give access to what the guard denies.
    3. Whether they obey robots.txt: a response fetched against it must not reach a crawl that obeys it.
    4. Which links of a page they skip.
    5. Whether they compute a simhash: a response cached without one would never get it.
    6. Which fields they extract from a page, and what else reads it (`readers`).
    7. In which formats they keep content.
    8. The user agent, if they chose one, and whether they accept any certificate.

    The key of a crawl without any of these is b"".
    """
    own: tuple[Any, ...] = (
        sent,
        sorted(options.private_hosts),
        options.obey_robots,
        options.obey_nofollow,
        options.near_duplicates,
        options.fields,
        *([sorted(options.keep)] if options.keep else []),
        *([options.user_agent] if options.user_agent else []),
        *([True] if options.ignore_tls_errors else []),
    )
    is_usual = own == (b"", [], True, False, False, ()) and not readers
    own = (*own, tuple(readers)) if readers else own
    return b"" if is_usual else blake2b(msgspec.msgpack.encode(own), digest_size=32).digest()


def cache_key(url: str, partition: bytes) -> bytes:
    """The key of a response: 16 bytes of BLAKE2b over the normalised URL, keyed by the cache partition."""
    return blake2b(url.encode(), digest_size=16, key=partition).digest()


def is_cacheable(result: PageResult) -> bool:
    """Whether this is a final response that another crawl may use: no transient error, nothing of its content missing,
    and not from the cache."""
    if result.reused or any(isinstance(place, str) for place in result.kept.values()):
        return False
    match result.outcome:
        case Outcome.SUCCESS:
            return True
        case Outcome.REDIRECT:
            return bool(result.redirect_to)
        case _:
            return result.outcome is Outcome.CLIENT_ERROR and result.http_status in GONE_STATUSES


def cached_part(result: PageResult) -> PageResult:
    """The part of a result that is the server's response, without the fields of this page and request. `kept` says in
    which objects its content is."""
    return msgspec.structs.replace(
        result,
        id=0,
        attempt=0,
        elapsed_ms=0,
        first_byte_ms=0,
        requests=0,
        retry_after=None,
        entries=(),
        sitemaps=(),
        etag="",
        last_modified="",
        code_calls=tuple(CodeCall(name=call.name, fields=call.fields, reused=True) for call in result.code_calls),
    )


def validators_of(result: PageResult) -> tuple[str, str]:
    """ETag and Last-Modified for the next conditional request.

    Only a response of 200-299 has any (RFC 9110, 13.2.1: for others the server ignores them). A date has whole seconds,
    so the page may have changed after it; alone it is used only if it is MIN_UNCHANGED_S old (8.8.2.2).
    """
    if result.outcome is not Outcome.SUCCESS:
        return NO_VALIDATORS
    if result.etag or _is_date_reliable(result):
        return result.etag, result.last_modified
    return NO_VALIDATORS


def _is_date_reliable(result: PageResult) -> bool:
    try:
        changed_at = parsedate_to_datetime(result.last_modified).timestamp()
    except (ValueError, OverflowError):
        return False
    return changed_at + MIN_UNCHANGED_S <= result.fetched_at


def conditions(task: PageTask) -> dict[str, str]:
    """The headers of a conditional request; none when nothing is cached."""
    sent = {"If-None-Match": task.etag, "If-Modified-Since": task.last_modified}
    return {name: value for name, value in sent.items() if value}


def is_unchanged(task: PageTask, http_status: int | None) -> bool:
    """Whether the server confirmed the cached response. A 304 to another request is a redirect without target."""
    return http_status == NOT_MODIFIED and bool(task.etag or task.last_modified)


def reused(page: int, attempts: int, known: CachedResponse) -> PageResult:
    """The result of a page that is not requested, because its response is cached."""
    return msgspec.structs.replace(
        known.result, id=page, attempt=attempts, fetched_at=known.stored_at, bytes=0, reused=True
    )


def confirmed(result: PageResult, known: CachedResponse) -> PageResult | None:
    """An unchanged page with its cached response; None when another crawl has replaced that since the request."""
    if (known.etag, known.last_modified) != (result.etag, result.last_modified):
        return None
    cached = known.result
    return msgspec.structs.replace(
        result,
        content_type=cached.content_type,
        title=cached.title,
        redirect_to=cached.redirect_to,
        links=cached.links,
        link_keys=cached.link_keys,
        linkage=cached.linkage,
        rels=cached.rels,
        directives=cached.directives,
        not_followed=cached.not_followed,
        headers=cached.headers,
        facts=cached.facts,
        kept=cached.kept,
    )


def is_cached_kind(kind: str) -> bool:
    """Whether responses of this kind of page are cached. Sitemaps and external links are always requested."""
    return kind == PAGE
