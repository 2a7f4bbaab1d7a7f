"""The seconds a crawl of the simulated web takes at least, whoever plans it: no polite schedule can stay below.

A host's share is the largest of these, each of which holds by itself:

1. Its requests, one delay apart. Its robots.txt comes first and is a request like any other; one that is told to stay
   away keeps the next one waiting for so long instead of for the delay. The last answer takes the host's latency.
2. Pages that cannot be known before a certain moment, and from then on the same: the pages they are found on must have
   been asked for and have answered, which may be on other hosts. A page that is in trouble takes its back-offs as well.
3. The host's latency, shared by as many connections as are allowed.

A host that does not answer, or whose robots.txt cannot be had, takes as many attempts as there are, with the waits
between them. The whole takes as long as its slowest host.
"""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from tools.sim.truth import Terms, answers, leads_to, unasked
from tools.sim.world import Health, Host, Link, Page, Robots, World


@dataclass(frozen=True)
class Bound:
    by_host: Mapping[int, float]  # seconds

    @property
    def seconds(self) -> float:
        return max(self.by_host.values())

    def of(self, hosts: set[int]) -> float:
        """The seconds of the slowest of these, if the others did not hold anybody up."""
        return max((seconds for number, seconds in self.by_host.items() if number in hosts), default=0.0)


def bound_of(world: World, terms: Terms) -> Bound:
    known_at: dict[int, list[tuple[float, Page]]] = defaultdict(list)
    for link, at in _earliest(world, terms).items():
        known_at[link[0]].append((at, world.page(link)))
    return Bound({number: _share(world.hosts[number], known_at[number], terms) for number in world.inside()})


def live_hosts(world: World) -> set[int]:
    """Those that can be crawled at all."""
    return {
        number
        for number in world.inside()
        if world.hosts[number].health is Health.WELL and world.hosts[number].robots is not Robots.DOWN
    }


def _share(host: Host, known: Sequence[tuple[float, Page]], terms: Terms) -> float:
    if host.health is Health.HANGING:
        return terms.attempts * terms.patience + terms.backoffs(terms.attempts)
    if host.health is Health.REFUSING or host.robots is Robots.DOWN:
        return terms.backoffs(terms.attempts)
    if not known:
        return host.latency
    told = [(at, page, answers(page, terms.attempts)) for at, page in known]
    final = max(at + _until_final(host, page, statuses, terms) for at, page, statuses in told)
    return max(_spaced(host, told, terms), _late(host, known, terms), _shared(host, told, terms), final)


Told = tuple[float, Page, list[int]]
"""When a page can be asked for, and what it answers, one time after another."""


def _spaced(host: Host, told: Sequence[Told], terms: Terms) -> float:
    gap, requests = terms.gap(host), sum(len(statuses) for _, _, statuses in told)
    stops = (page.retry_after for _, page, statuses in told if statuses[0] == 429 and _is_stop(page, statuses))
    kept_away = sum(max(seconds - gap, 0.0) for seconds in stops)
    return begins_at(host, terms) + (requests - 1) * gap + kept_away + host.latency


def _late(host: Host, known: Sequence[tuple[float, Page]], terms: Terms) -> float:
    """Of the page known last, of that and the one before, and so on: the last of them comes so many delays later."""
    latest_first = sorted((at for at, _ in known), reverse=True)
    return max(at + behind * terms.gap(host) for behind, at in enumerate(latest_first)) + host.latency


def _shared(host: Host, told: Sequence[Told], terms: Terms) -> float:
    thought = sum(len(statuses) - _is_stop(page, statuses) for _, page, statuses in told)
    return begins_at(host, terms) + ceil(thought / terms.concurrency) * host.latency


def _is_stop(page: Page, statuses: Sequence[int]) -> bool:
    """Whether it tells us to stay away before it is fine, which it does at once."""
    return page.retry_after > 0 and len(statuses) > 1


def begins_at(host: Host, terms: Terms) -> float:
    """The earliest moment at which a page of the host may be asked for: its robots.txt is had, and the delay over."""
    had = max(host.latency, terms.gap(host))
    if host.robots is Robots.LATE:
        return max(host.latency + terms.backoffs(2), terms.delay) + had
    return had


def _earliest(world: World, terms: Terms) -> dict[Link, float]:
    """When each page that may be asked for can be asked for, if its host had no other: Dijkstra over links."""
    waiting: list[tuple[float, Link]] = [(0.0, (number, 0)) for number in world.inside()]
    earliest: dict[Link, float] = {}
    while waiting:
        known_at, link = heapq.heappop(waiting)
        host, page = world.hosts[link[0]], world.page(link)
        if link in earliest or not host.inside or unasked(host, page, terms) is not None:
            continue
        earliest[link] = max(known_at, begins_at(host, terms))
        told = answers(page, terms.attempts)
        final_at = earliest[link] + _until_final(host, page, told, terms)
        for target in leads_to(page, told[-1]):
            heapq.heappush(waiting, (final_at, target))
    return earliest


def _until_final(host: Host, page: Page, told: Sequence[int], terms: Terms) -> float:
    """Seconds from the first request for a page to its final answer; one that sends us away does so at once."""
    waits = max(terms.backoffs(len(told)), page.retry_after if _is_stop(page, told) else 0.0)
    return waits + (len(told) - _is_stop(page, told)) * host.latency
