"""The hosts that slow a crawl down: one sentence while it runs, and a list for its receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redis.exceptions import RedisError

from crawler.core.errors import ServiceDown
from crawler.core.politeness.throttle import Slowdown, Throttle
from crawler.core.protocol import retries
from crawler.core.protocol.completion import State
from crawler.core.text.quantities import count, counted
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_state import HostStates
from crawler.models import Crawl
from crawler.queueing import queues
from crawler.reports.slowdown_text import load_text, slowdown_text

SLOW_RESPONSE_S = 1.0  # a host that takes as long is named with the progress
MAX_HOSTS = 200  # that are looked at


def load_of(crawl: Crawl) -> str:
    """One sentence about the hosts that a running crawl fetches from, if they slow it down; "" = they do not."""
    if crawl.state != State.RUNNING or not crawl.chosen.throttle:
        return ""
    try:
        frontier = Frontier(queues.connection(), str(crawl.id))
        lanes = frontier.ready_queue.lanes_out(MAX_HOSTS)
        hosts = list(dict.fromkeys(map(retries.host_of, lanes)))
        states = HostStates(frontier.redis).read(hosts, frontier.now()) if hosts else {}
    except (ServiceDown, RedisError):
        return ""  # that it does not respond has an alert of its own
    return _sentence({host: state.throttle for host, state in states.items()}, crawl.chosen.concurrency)


def _sentence(throttles: Mapping[str, Throttle], connections: int) -> str:
    slowed = [host for host, known in throttles.items() if slowdown_text(Slowdown.of(known), connections)]
    slow = [host for host, known in throttles.items() if known.seconds >= SLOW_RESPONSE_S]
    named = (slowed or slow)[:1]
    if not named:
        return ""
    text = f"{named[0]} {_is(load_text(throttles[named[0]], connections))}"
    if len(throttles) == 1:
        return f"{text}."
    if slowed:
        return f"{counted(len(slowed), 'host')} of {count(len(throttles))} {_are(slowed)} slowed down: {text}."
    return f"{counted(len(slow), 'host')} of {count(len(throttles))} {_are(slow)} slow: {text}."


def _is(text: str) -> str:
    return f"is {text}" if text.startswith("slowed") else text


def _are(hosts: Sequence[str]) -> str:
    return "is" if len(hosts) == 1 else "are"


# In the receipt.


def slowed_hosts(crawl: Crawl) -> list[dict[str, Any]]:
    """The hosts that were slowed down most, each with what it got at worst, as plain JSON. `of`: the connections that
    the crawl would have used."""
    connections = crawl.chosen.concurrency
    if not crawl.chosen.throttle:
        return []
    return [
        {"host": host, "of": connections, **plain}
        for host, plain in (crawl.slowed or {}).items()
        if slowdown_text(Slowdown.from_plain(plain), connections)
    ]
