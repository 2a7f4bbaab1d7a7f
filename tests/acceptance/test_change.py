"""What was chosen for a crawl is changed by the command while real workers are at it."""

from collections.abc import Sequence

import pytest
from django.core.management import call_command

from crawler.core.protocol.counters import adds_up
from tests.site import Reply, Site, lateness, page
from tests.stack import Stack

WORKERS = 1
THINKING_S = 0.1
MANY = tuple(f"/{number}" for number in range(120))
SLOW = {"/": page(*MANY), **dict.fromkeys(MANY, Reply(page(), after=THINKING_S))}
CONNECTIONS = 4
LAST = 20  # pages: fewer than are left when all that were handed out before a change have been requested


def moments_around_change(crew: Stack, *options: str) -> tuple[list[float], list[float]]:
    """When a crawl over four connections requested its pages: until it was changed, and from then on."""
    with Site(SLOW).serving() as site:
        crawl = crew.start(f"{site.url}/", concurrency=CONNECTIONS, obey_robots=False)
        crew.wait_for(lambda: site.hits.total() > len(MANY) // 4)
        crew.within(lambda: call_command("change", str(crawl), *options))
        before = site.hits.total()
        receipt = crew.wait_until_finished(crawl)
        moments = sorted(request.at for request in site.requests)
    assert adds_up(receipt)
    assert len(moments) == receipt["fetched"] == len(SLOW)
    return moments[:before], moments[before:]


@pytest.mark.long
def test_fewer_connections_hold_from_the_next_batch_on(crew: Stack) -> None:
    before, after = moments_around_change(crew, "--concurrency", "1")
    assert at_a_time(before[4:]) == CONNECTIONS
    assert at_a_time(after[-LAST:]) == 1


@pytest.mark.long
def test_fewer_requests_a_minute_hold_from_the_next_batch_on(crew: Stack) -> None:
    delay = 0.25
    before, after = moments_around_change(crew, "--per-minute", str(60 / delay))
    assert out_of_turn(before[-LAST:], delay) > LAST // 2
    assert out_of_turn(after[-LAST:], delay) <= LAST // 4  # slow on their way


def at_a_time(moments: Sequence[float]) -> int:
    """How many requests the site worked on at a time, at most."""
    return max(sum(1 for other in moments if moment <= other < moment + THINKING_S * 0.9) for moment in moments)


def out_of_turn(moments: Sequence[float], delay: float) -> int:
    return sum(late > delay * 0.4 for late in lateness(moments, delay))
