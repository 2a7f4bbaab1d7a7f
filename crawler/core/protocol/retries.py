"""Which results are retried and when, in which batches suspect pages are retried, and when pages expire."""

from __future__ import annotations

from string import ascii_lowercase, digits
from typing import assert_never

import msgspec

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Category, Outcome, Retry
from crawler.core.protocol.lanes import suffixes
from crawler.core.protocol.messages import PageResult

BACKOFF_BASE_S = 2.0  # before the second attempt, on average
MAX_BACKOFF_S = 300.0
MAX_RETRY_AFTER_S = 24 * 3600.0  # a crawl without other work ends sooner

TRANSIENT_STATUSES = frozenset({408, 425, 429, *range(500, 600)})


class RetryDecision(msgspec.Struct, frozen=True):
    """Request again, after at least `wait` seconds."""

    wait: float
    put_off: int | None = None  # status of the response with this Retry-After; None = our own back-off


def decide(result: PageResult, max_attempts: int, jitter: float) -> RetryDecision | None:
    """None when this result is final. `jitter` is a random number in [0, 1).

    The back-off doubles each time and is spread by a quarter in both directions, so that pages which failed together
    are not requested again together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    """
    if result.attempt >= max_attempts or result.is_hopeless or not _is_transient(result):
        return None
    backoff = min(BACKOFF_BASE_S * 2 ** (result.attempt - 1) * (0.75 + jitter / 2), MAX_BACKOFF_S)
    asked = min(result.retry_after or 0.0, MAX_RETRY_AFTER_S)
    return RetryDecision(asked, put_off=result.http_status) if asked > backoff else RetryDecision(backoff)


def is_dead_letter(result: PageResult) -> bool:
    """Whether a page that closes with this result may be retried by a user: it failed, or its last attempt did."""
    return result.outcome.category is Category.FAILED or _is_transient(result)


def _is_transient(result: PageResult) -> bool:
    match result.outcome.entry.retry:
        case Retry.ALWAYS:
            return True
        case Retry.BY_STATUS:
            return result.robots_unreachable or result.http_status in TRANSIENT_STATUSES
        case Retry.NEVER:
            has_another = bool(result.lane_reason) or result.process_ended  # another process for pages
            return result.robots_unreachable or (result.outcome is Outcome.CRASHED and has_another)
    assert_never(result.outcome.entry.retry)


# Lanes of a host: the queues of the frontier in which its pages wait. See `lane_of`.

SUSPECTS_PER_BATCH = 16  # until a worker crashes on one: the square root of a batch's 256 pages


def lane_of(host: str, *, is_suspect: bool, deaths: int, suffix: str = "") -> str:
    """The queue of the frontier a page waits in. `deaths`: workers that crashed on this page. `suffix`: that of its
    slot lane, see `core.protocol.lanes`.

    A crashed worker does not tell which of its pages was the cause, and most of them it had not requested yet. So the
    open pages of its batch become suspects, without a death. A suspect is written into the lease before it is
    requested: a crash then counts as a death of this one page, which is alone in its batch from then on.

    The suspects of a host wait in lanes of their own: "host|16" for batches of sixteen, "host|1" for batches of one. So
    do the pages of a slot lane, here with the suffix b: "host|b", and as suspects "host|b16" and "host|b1". No host
    name contains a "|" (WHATWG URL, forbidden host code points).
    """
    company = str(1 if deaths else SUSPECTS_PER_BATCH) if is_suspect else ""
    return f"{host}|{suffix}{company}" if suffix or company else host


def lanes_of(host: str) -> list[str]:
    """All lanes that pages of a host may wait in."""
    kinds = [f"{suffix}{company}" for suffix in suffixes() for company in ("", SUSPECTS_PER_BATCH, 1)]
    return [f"{host}|{kind}" if kind else host for kind in kinds]


def host_of(lane: str) -> str:
    return lane.partition("|")[0]


def batch_size(lane: str) -> int | None:
    """How many pages of this lane may share a batch; None when they are not suspects."""
    pages = _kind_of(lane).lstrip(ascii_lowercase)
    return int(pages) if pages else None


def suffix_of(lane: str) -> str:
    """The suffix of the slot lane of these pages; "" = the base lane."""
    return _kind_of(lane).rstrip(digits)


def _kind_of(lane: str) -> str:
    return lane.partition("|")[2]


def expiry(options: CrawlOptions, round_began_at: float, now: float, ttl: float | None = None) -> float | None:
    """Epoch seconds when a page discovered now expires, by the deadline or its time to live (its own `ttl`, in seconds,
    or the crawl's); None = never."""
    lifetime = options.page_ttl if ttl is None else ttl
    moments = []
    if options.deadline is not None:
        moments.append(round_began_at + options.deadline)
    if lifetime is not None:
        moments.append(now + lifetime)
    return min(moments, default=None)
