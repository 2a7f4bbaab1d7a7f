"""A host that was down yesterday is tried as if it had never been."""

import time

import pytest

from crawler.core.politeness.throttle import Throttle
from crawler.frontier.host_throttle import encoded_throttle
from tests.conftest import free_port
from tests.site import Site, page
from tests.stack import Stack

WORKERS = 2
BACK_OFFS = 7.5  # seconds: three attempts, with the longest back-off between them


def seconds(crew: Stack, url: str) -> float:
    began = time.monotonic()
    crew.wait_until_finished(crew.start(url, obey_robots=False), patience=120)
    return time.monotonic() - began


def trouble_learned_of(crew: Stack, host: str, now: float) -> None:
    """What the throttle holds after a series of crawls that found the host down."""
    throttle = Throttle(limit=1.0, delay=60.0, failures=12, news_at=now)
    crew.redis.hset(f"crawler:host:{host}", mapping=encoded_throttle(throttle, now))


@pytest.mark.long
def test_crawls_of_a_dead_host_take_no_longer_each_time(crew: Stack) -> None:
    host = f"127.0.0.1:{free_port()}"
    first = seconds(crew, f"http://{host}/")
    trouble_learned_of(crew, host, time.time())
    assert seconds(crew, f"http://{host}/") <= 1.5 * max(first, BACK_OFFS)


def test_a_host_that_is_well_again_is_at_full_speed_at_once(crew: Stack) -> None:
    pages = {f"/{number}": page() for number in range(40)}
    with Site({"/": page(*pages)} | pages).serving() as site:
        trouble_learned_of(crew, site.host, time.time())
        seconds(crew, f"{site.url}/")
        assert sum(site.gaps()) <= 10.0
