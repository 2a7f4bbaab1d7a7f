"""How a host's robots.txt is had: which address, how many redirects, how much of it (RFC 9309, 2.3 and 2.5)."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.core.outcomes import Outcome, of_status
from crawler.core.urls import normalise
from crawler.fetching.fetcher import Fetched, Fetcher, anything

MAX_HOPS = 5
MAX_BYTES = 512_000  # the RFC asks for at least 500 KiB = 512,000 bytes
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFile:
    """What was found in place of a host's robots.txt."""

    status: int | None  # HTTP status of the last answer; None when the file could not be reached
    text: str = ""  # its first 512,000 bytes; empty unless status is 2xx
    requests: int = 0  # requests made, redirects included
    outcome: Outcome  # of the last request
    error: str = ""  # one line for a person when status is None


def fetch_robots(fetcher: Fetcher, origin: str) -> RobotsFile:
    """The robots.txt of an origin ("https://host[:port]"), over at most five redirects, to other hosts too.

    After the fifth, and when a redirect says not where to, `status` is the redirect's own: the file is "unavailable"
    (2.3.1.3). A hop to something that is not the web, or to an address we may not ask, makes it "unreachable".
    """
    url = f"{origin}/robots.txt"
    asked = 0
    for hop in range(MAX_HOPS + 1):
        fetched = fetcher.get(url, wants=anything, truncate_at=MAX_BYTES)
        asked += fetched.requests
        if fetched.http_status not in _REDIRECTS or not fetched.location or hop == MAX_HOPS:
            break
        target = normalise(fetched.location, url)
        if target is None:
            return _lost(fetched, asked)
        url = target
    return _found(fetched, asked)


def _found(fetched: Fetched, asked: int) -> RobotsFile:
    if fetched.outcome is Outcome.SUCCESS:
        text = fetched.body.decode("utf-8", errors="replace")
        return RobotsFile(status=fetched.http_status, text=text, requests=asked, outcome=fetched.outcome)
    if fetched.http_status is not None and 300 <= fetched.http_status <= 599:  # whatever became of its body
        return RobotsFile(status=fetched.http_status, requests=asked, outcome=of_status(fetched.http_status))
    return RobotsFile(status=None, requests=asked, outcome=fetched.outcome, error=fetched.error)


def _lost(fetched: Fetched, asked: int) -> RobotsFile:
    return RobotsFile(
        status=None,
        requests=asked,
        outcome=fetched.outcome,
        error="robots.txt redirects to something that is not a web address",
    )
