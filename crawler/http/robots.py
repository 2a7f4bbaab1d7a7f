"""How a host's robots.txt is had: which address, how many redirects, how much of it (RFC 9309, 2.3 and 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawler.core.crawl.outcomes import Outcome, of_status
from crawler.core.robots.robots_txt import MAX_BYTES
from crawler.core.urls.normalise import normalise
from crawler.http.errors import one_line
from crawler.http.fetcher import Fetched, Fetcher, anything

MAX_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFile:
    """What was found in place of a host's robots.txt."""

    status: int | None  # HTTP status of the last answer; None when the file could not be reached
    body: bytes = b""  # at most one byte more than is read of it, to tell that it was cut; empty unless status is 2xx
    content_type: str = ""  # its media type, in lower case
    requests: int = 0  # requests made, redirects included
    outcome: Outcome  # of the last request to its own address; of those behind a redirect, REDIRECT
    retry_after: float | None = None  # seconds the server of its own address asked us to wait
    error: str = ""  # one line for a person when status is None


def fetch_robots(fetcher: Fetcher, origin: str, may_hop: Callable[[], bool] = lambda: True) -> RobotsFile:
    """The robots.txt of an origin ("https://host[:port]"), over at most five redirects, to other hosts too.

    After the fifth, and when a redirect says not where to, `status` is the redirect's own: the file is "unavailable"
    (2.3.1.3). A hop to something that is not the web, or to an address we may not ask, makes it "unreachable".
    `may_hop` is asked before each request but the first; where it says no, the file is unreachable for now.
    It is asked for without credentials, because what it says is remembered for the crawls of everybody.
    """
    url = f"{origin}/robots.txt"
    asked = 0
    for hop in range(MAX_HOPS + 1):
        fetched = fetcher.get(url, wants=anything, truncate_at=MAX_BYTES + 1, anonymous=True)
        asked += fetched.requests
        if fetched.http_status not in _REDIRECTS or not fetched.location or hop == MAX_HOPS:
            break
        target = normalise(fetched.location, url)
        if target is None:
            return _lost("it redirects to something that is not a web address", asked)
        if not may_hop():
            return _lost("the host wants to be left in peace before its redirect is followed", asked)
        url = target
    found = _found(fetched, asked)
    if found.status is None and hop > 0:  # that says nothing about the host itself
        return _lost(one_line(f"it redirects to {url}, and there: {found.error}"), asked)
    return found


def _found(fetched: Fetched, asked: int) -> RobotsFile:
    status, outcome = fetched.http_status, fetched.outcome
    if outcome is Outcome.SUCCESS:
        return RobotsFile(
            status=status, body=fetched.body, content_type=fetched.content_type, requests=asked, outcome=outcome
        )
    if status is not None and 300 <= status <= 599:  # whatever became of its body
        return RobotsFile(status=status, requests=asked, outcome=of_status(status), retry_after=fetched.retry_after)
    return RobotsFile(status=None, requests=asked, outcome=outcome, error=fetched.error)


def _lost(error: str, asked: int) -> RobotsFile:
    return RobotsFile(status=None, requests=asked, outcome=Outcome.REDIRECT, error=error)
