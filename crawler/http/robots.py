"""Fetches the robots.txt of a host (RFC 9309, 2.3 and 2.5)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.robots.robots_txt import MAX_BYTES
from crawler.core.urls.normalise import normalise
from crawler.http.errors import one_line
from crawler.http.fetcher import Fetcher, FetchResult, anything

MAX_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class RobotsFile(msgspec.Struct, frozen=True, kw_only=True):
    """The response to a request for robots.txt."""

    status: int | None  # HTTP status of the last response; None if the file is unreachable
    body: bytes = b""  # one byte more than is parsed shows that it was truncated; empty unless 2xx
    content_type: str = ""  # its media type, in lower case
    requests: int = 0  # requests made, redirects included
    outcome: Outcome  # of the last request to the host itself; REDIRECT after a redirect
    retry_after: float | None = None  # seconds, of the host itself
    error: str = ""  # one line for users if status is None


def fetch_robots(fetcher: Fetcher, origin: str, may_hop: Callable[[], bool] = lambda: True) -> RobotsFile:
    """The robots.txt of an origin ("https://host[:port]"), over at most five redirects, to other hosts too.

    After the fifth redirect, and after one without a target, `status` is the redirect's own: the file is "unavailable"
    (2.3.1.3). A redirect to something that is not an http URL, or to a refused address, makes it "unreachable".
    `may_hop` is called before each request but the first; if it returns False, the file is unreachable for now.
    The request has no credentials, because the result is cached for all crawls.
    """
    url = f"{origin}/robots.txt"
    requests = 0
    for hop in range(MAX_HOPS + 1):
        fetched = fetcher.get(url, wants=anything, truncate_at=MAX_BYTES + 1, anonymous=True)
        requests += fetched.requests
        if fetched.http_status not in _REDIRECTS or not fetched.location or hop == MAX_HOPS:
            break
        target = normalise(fetched.location, url)
        if target is None:
            return _unreachable("it redirects to an invalid URL", requests)
        if not may_hop():
            return _unreachable("the host's rate limit does not allow following its redirect now", requests)
        url = target
    found = _found(fetched, requests)
    if found.status is None and hop > 0:  # not an error of the host itself
        return _unreachable(one_line(f"it redirects to {url}, and there: {found.error}"), requests)
    return found


def _found(fetched: FetchResult, requests: int) -> RobotsFile:
    status, outcome = fetched.http_status, fetched.outcome
    if outcome is Outcome.SUCCESS:
        return RobotsFile(
            status=status, body=fetched.body, content_type=fetched.content_type, requests=requests, outcome=outcome
        )
    if status is not None and 300 <= status <= 599:  # even if its body could not be read
        return RobotsFile(status=status, requests=requests, outcome=of_status(status), retry_after=fetched.retry_after)
    return RobotsFile(status=None, requests=requests, outcome=outcome, error=fetched.error)


def _unreachable(error: str, requests: int) -> RobotsFile:
    return RobotsFile(status=None, requests=requests, outcome=Outcome.REDIRECT, error=error)
