"""Which answers are worth remembering, for how long they are good, and what a page takes from one."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from typing import Any

import msgspec

from crawler.core.crawl.messages import PAGE, PageResult, PageTask
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome

NOT_MODIFIED = 304
GONE_STATUSES = frozenset({404, 410})
SETTLED = 60.0  # seconds a page must have been left alone before its date alone can tell that it has not changed

NO_VALIDATORS = ("", "")


@dataclass(frozen=True)
class Remembered:
    """What a server said of a URL."""

    result: PageResult
    stored_at: float  # epoch seconds when it was last known to be so
    etag: str
    last_modified: str


def uses_memory(options: CrawlOptions) -> bool:
    """Whether a crawl reads and writes the memory of answers."""
    return options.revisit or options.response_ttl is not None


def circle_of(options: CrawlOptions, sent: bytes = b"") -> bytes:
    """Which crawls may share answers, as a digest: those that would have been told the same, and may be.

    1. They send the same credentials, headers and proxy of their own (`sent`): a private answer stays private.
    2. They may ask the same addresses that are not public: nobody reads in the memory what the guard keeps from him.
    3. They treat robots.txt the same way: an answer had by ignoring it is none for a crawl that obeys.
    4. They leave out the same links of a page.
    5. They make sketches of pages, or not: an answer remembered without one would never have it.
    6. They read the same fields from a page: what other rules found is no answer to these.

    The usual crawl, with none of this, is in the circle b"".
    """
    own: tuple[Any, ...] = (
        sent,
        sorted(options.private_hosts),
        options.obey_robots,
        options.obey_nofollow,
        options.near_duplicates,
        options.fields,
    )
    is_usual = own == (b"", [], True, False, False, ())
    return b"" if is_usual else blake2b(msgspec.msgpack.encode(own), digest_size=32).digest()


def memory_key(url: str, circle: bytes) -> bytes:
    """The key of an answer: 16 bytes of BLAKE2b over the normalised URL, keyed by the circle that shares it."""
    return blake2b(url.encode(), digest_size=16, key=circle).digest()


def is_worth_remembering(result: PageResult) -> bool:
    """Whether this is a final answer another crawl may take for its own. Trouble that may pass is not, nor is an answer
    that came from the memory itself."""
    if result.reused:
        return False
    match result.outcome:
        case Outcome.SUCCESS:
            return True
        case Outcome.REDIRECT:
            return bool(result.redirect_to)
        case _:
            return result.outcome is Outcome.CLIENT_ERROR and result.http_status in GONE_STATUSES


def essence(result: PageResult) -> PageResult:
    """The part of a result that is the server's answer, without how and for whom it was had."""
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
        kept={},
    )


def validators_of(result: PageResult) -> tuple[str, str]:
    """ETag and Last-Modified to be sent next time.

    Only an answer of 200-299 has any (RFC 9110, 13.2.1: for others the server ignores them). A date alone counts in
    whole seconds and may be younger than the last change; it is used once the page has been left alone for a while
    (8.8.2.2).
    """
    if result.outcome is not Outcome.SUCCESS:
        return NO_VALIDATORS
    if result.etag or _is_settled(result):
        return result.etag, result.last_modified
    return NO_VALIDATORS


def _is_settled(result: PageResult) -> bool:
    try:
        changed_at = parsedate_to_datetime(result.last_modified).timestamp()
    except (ValueError, OverflowError):
        return False
    return changed_at + SETTLED <= result.fetched_at


def conditions(task: PageTask) -> dict[str, str]:
    """The headers by which a page is asked for only if it has changed; none when nothing of it is remembered."""
    sent = {"If-None-Match": task.etag, "If-Modified-Since": task.last_modified}
    return {name: value for name, value in sent.items() if value}


def is_unchanged(task: PageTask, http_status: int | None) -> bool:
    """Whether the server confirmed what is remembered. A 304 nobody asked for is a redirect that leads nowhere."""
    return http_status == NOT_MODIFIED and bool(task.etag or task.last_modified)


def reused(page: int, attempts: int, known: Remembered) -> PageResult:
    """The result of a page that is not asked for, because the answer is remembered."""
    return msgspec.structs.replace(
        known.result, id=page, attempt=attempts, fetched_at=known.stored_at, bytes=0, reused=True
    )


def confirmed(result: PageResult, known: Remembered) -> PageResult | None:
    """An unchanged page with all that is remembered of it; None when that is not the answer the server was asked about:
    another crawl has replaced it meanwhile."""
    if (known.etag, known.last_modified) != (result.etag, result.last_modified):
        return None
    answer = known.result
    return msgspec.structs.replace(
        result,
        content_type=answer.content_type,
        title=answer.title,
        redirect_to=answer.redirect_to,
        links=answer.links,
        link_keys=answer.link_keys,
        linkage=answer.linkage,
        rels=answer.rels,
        directives=answer.directives,
        not_followed=answer.not_followed,
        headers=answer.headers,
        facts=answer.facts,
    )


def is_kept(kind: str) -> bool:
    """Whether answers of this kind of page are remembered. Sitemaps and links that leave the site are asked anew."""
    return kind == PAGE
