"""Which outcomes are worth another try, and when.

Back-off doubles from BASE and is spread by a quarter in both directions, so that pages which failed together are not
asked again together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015), and a crawl of a host
that is down takes about as long each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from crawler.core.crawl.messages import PageResult
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Category, Retry

BASE = 2.0  # seconds before the second attempt, on average
LONGEST_BACKOFF_S = 300.0
LONGEST_PUT_OFF_S = 24 * 3600.0  # whatever Retry-After says; a crawl that has nothing else to do ends sooner

TRANSIENT_STATUSES = frozenset({408, 425, 429, *range(500, 600)})


@dataclass(frozen=True)
class RetryDecision:
    """Ask again, but not before `wait` seconds have passed."""

    wait: float
    put_off: int | None = None  # status of the response that asked for this wait; None = the wait is our own back-off


def decide(result: PageResult, max_attempts: int, jitter: float) -> RetryDecision | None:
    """None when this result is final. `jitter` is a random number in [0, 1)."""
    if result.attempt >= max_attempts or result.is_hopeless or not _is_transient(result):
        return None
    backoff = min(BASE * 2 ** (result.attempt - 1) * (0.75 + jitter / 2), LONGEST_BACKOFF_S)
    asked = min(result.retry_after or 0.0, LONGEST_PUT_OFF_S)
    return RetryDecision(asked, put_off=result.http_status) if asked > backoff else RetryDecision(backoff)


def is_dead_letter(result: PageResult) -> bool:
    """Whether a page that closes with this result may be sent again: it failed, or its trouble did not pass in time."""
    return result.outcome.category is Category.FAILED or _is_transient(result)


def _is_transient(result: PageResult) -> bool:
    match result.outcome.entry.retry:
        case Retry.ALWAYS:
            return True
        case Retry.BY_STATUS:
            return result.robots_unreachable or result.http_status in TRANSIENT_STATUSES
        case Retry.NEVER:
            return result.robots_unreachable
    assert_never(result.outcome.entry.retry)


# Pages that may have killed their worker, and how few of them share a batch.
#
# A worker that dies says nothing about which of its pages was to blame, and most of them it had not asked for yet. So
# the open pages of its batch become suspects, and nothing is counted against them. A suspect is noted in the lease
# before it is asked for: a worker that dies then counts against this one page. From its first death on a page goes
# alone.
#
# A host's suspects wait in a lane of their own beside the host's other pages: "host|16" for batches of sixteen,
# "host|1" for batches of one. No host name holds a "|" (WHATWG URL, forbidden host code points).

SMALL_COMPANY = 16  # suspects in a batch, until a worker dies over one: the root of a batch's 256 pages


def lane_of(host: str, *, is_suspect: bool, deaths: int) -> str:
    """The lane a page waits in: the host itself unless a worker died with the page in its batch. `deaths`: workers that
    died over this page."""
    if not is_suspect:
        return host
    return f"{host}|{1 if deaths else SMALL_COMPANY}"


def lanes_of(host: str) -> list[str]:
    """Every lane that pages of a host may wait in."""
    return [host, f"{host}|{SMALL_COMPANY}", f"{host}|1"]


def host_of(lane: str) -> str:
    return lane.partition("|")[0]


def company(lane: str) -> int | None:
    """Pages of this lane that may share a batch; None when its pages are not suspects."""
    _, _, pages = lane.partition("|")
    return int(pages) if pages else None


# Until when a page may be asked for: the crawl's deadline or the page's time to live, whichever ends first.


def expiry(options: CrawlOptions, round_began_at: float, now: float) -> float | None:
    """Epoch seconds after which a page discovered now is not asked for any more; None = never."""
    moments = []
    if options.deadline is not None:
        moments.append(round_began_at + options.deadline)
    if options.page_ttl is not None:
        moments.append(now + options.page_ttl)
    return min(moments, default=None)
