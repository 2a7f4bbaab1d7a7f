"""What a polite crawler would not have done: everything in a log that some host may complain about.

The log's times are the server's. A request's is the kernel's, good to microseconds, or without such stamps that of a
process which may be a moment late: EARLY allows for it. An answer's is taken before it is sent.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from tools.sim.answers import OURS
from tools.sim.log import NEVER, Log, Request
from tools.sim.truth import Terms
from tools.sim.world import Host, World

EARLY = 0.005  # seconds by which a gap may be too small, and a wait too short
UNDER_WAY = 0.1  # seconds after a host has told us to stay away in which what was under way may still arrive
HANGING_UP = 0.1  # seconds the server may need to see that a connection has been ended

ROBOTS = "/robots.txt"


class Wrong(StrEnum):
    """What can be wrong with a request."""

    TOO_SOON = "too soon"  # within the host's delay, or the Crawl-delay once its robots.txt was read
    STAY_AWAY = "told to stay away"  # before a Retry-After was over, for whichever page of the host
    TOO_MANY = "too many at a time"  # requests under way, or connections
    FORBIDDEN = "forbidden"  # by robots.txt
    BEFORE_ROBOTS = "before robots.txt"  # before it was had
    UNKNOWN = "unknown"  # a page that nothing leads to
    OUTSIDE = "outside"  # a host that does not belong to the crawl
    ANONYMOUS = "anonymous"  # without the crawler's name


@dataclass(frozen=True)
class Violation:
    wrong: Wrong
    host: str  # its address
    at: float  # seconds since the log's first request
    what: str

    def __str__(self) -> str:
        return f"{self.at:.3f} s, {self.host}: {self.wrong}: {self.what}"


def violations(log: Log, world: World, terms: Terms) -> list[Violation]:
    """Every one of them, in the order of time. The log may be of several crawls under the same terms."""
    by_host: dict[int, list[Request]] = defaultdict(list)
    for request in log.requests:
        by_host[request.host].append(request)
    found = [
        Violation(wrong, world.hosts[number].address, at - log.requests[0].at, what)
        for number, requests in by_host.items()
        for wrong, at, what in _of_host(world.hosts[number], requests, terms)
    ]
    found += [
        Violation(Wrong.TOO_MANY, world.hosts[number].address, at - log.requests[0].at, what)
        for number, at, what in _connections(log, terms)
    ]
    return sorted(found, key=lambda violation: violation.at)


Complaint = tuple[Wrong, float, str]


def _of_host(host: Host, requests: list[Request], terms: Terms) -> Iterator[Complaint]:
    if not host.inside:
        yield from ((Wrong.OUTSIDE, request.at, request.path) for request in requests)
        return
    yield from _too_soon(host, requests, terms)
    yield from _stay_away(requests)
    yield from _too_many(requests, terms)
    yield from _not_to_be_asked(host, requests)
    for request in requests:
        if not request.agent.startswith(OURS):
            yield Wrong.ANONYMOUS, request.at, f"{request.path} was asked for by {request.agent or 'nobody'}"


def _too_soon(host: Host, requests: list[Request], terms: Terms) -> Iterator[Complaint]:
    """The Crawl-delay counts from the answer to robots.txt on, which is itself a request before the next."""
    known_at = _robots_had_at(requests, {200})
    for earlier, later in itertools.pairwise(requests):
        least = terms.gap(host) if later.at >= known_at else terms.delay
        gap = later.at - earlier.at
        if gap < least - EARLY:
            what = f"{later.path} came {gap * 1000:.1f} ms after {earlier.path}, not {least * 1000:.0f}"
            yield Wrong.TOO_SOON, later.at, what


def _stay_away(requests: list[Request]) -> Iterator[Complaint]:
    """A 429 speaks of the whole host: whatever comes before its time is over is too much. A 503 speaks of its page."""
    for stop in requests:
        if not stop.retry_after or stop.status not in (429, 503):
            continue
        over = stop.until + stop.retry_after
        for request in requests:
            is_meant = stop.status == 429 or request.path == stop.path
            if is_meant and stop.until + UNDER_WAY < request.at < over - EARLY:
                what = f"{request.path} came {over - request.at:.3f} s before a Retry-After of {stop.path} was over"
                yield Wrong.STAY_AWAY, request.at, what


def _too_many(requests: list[Request], terms: Terms) -> Iterator[Complaint]:
    spans = [(request.at, request.until - (0 if request.status else HANGING_UP)) for request in requests]
    for at, number in _beyond(spans, terms.concurrency):
        yield Wrong.TOO_MANY, at, f"{number} requests under way, not {terms.concurrency}"


def _connections(log: Log, terms: Terms) -> Iterator[tuple[int, float, str]]:
    by_host: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for connection in log.connections:
        by_host[connection.host].append((connection.opened, connection.closed - HANGING_UP))
    for host, spans in by_host.items():
        for at, number in _beyond(spans, terms.concurrency):
            yield host, at, f"{number} connections, not {terms.concurrency}"


def _beyond(spans: Iterable[tuple[float, float]], most: int) -> Iterator[tuple[float, int]]:
    """The moments at which more than so many spans overlap, each with how many."""
    events = [event for began, ended in spans if ended > began for event in ((began, 1), (ended, -1))]
    number = 0
    for at, change in sorted(events):  # of an end and a beginning at the same time, the end comes first
        number += change
        if change > 0 and number > most:
            yield at, number


def _not_to_be_asked(host: Host, requests: list[Request]) -> Iterator[Complaint]:
    pages = {page.path: page for page in host.pages}
    had_at = _robots_had_at(requests, {200, 404})
    for request in requests:
        if request.path == ROBOTS:
            continue
        if request.path not in pages:
            yield Wrong.UNKNOWN, request.at, request.path
        elif pages[request.path].forbidden:
            yield Wrong.FORBIDDEN, request.at, request.path
        if request.at < had_at:
            yield Wrong.BEFORE_ROBOTS, request.at, request.path


def _robots_had_at(requests: list[Request], statuses: set[int]) -> float:
    """When robots.txt was first answered like this; NEVER when it was not. It is remembered for a day."""
    told = (request.until for request in requests if request.path == ROBOTS and request.status in statuses)
    return min(told, default=NEVER)
