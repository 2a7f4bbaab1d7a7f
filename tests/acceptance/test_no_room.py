"""Redis reaches its maxmemory, or the database cannot grow, in the middle of a crawl of real workers: it stands still,
says why, and ends with a receipt that adds up."""

import resource
from collections.abc import Iterator
from uuid import UUID

import pytest

from crawler.models import Crawl
from crawler.reports.diagnosis_facts import held_because
from tests.acceptance.test_killed import slow_site
from tests.acceptance.test_stock_workers import EXPECTED
from tests.site import Site
from tests.stack import Stack


@pytest.fixture
def site() -> Iterator[Site]:
    with slow_site().serving() as site:
        yield site


def begun(stack: Stack, site: Site) -> UUID:
    """A crawl in its middle, with two workers."""
    for _ in range(2):
        stack.start_worker()
    crawl = stack.start(f"{site.url}/")
    stack.wait_for(lambda: len(site.requests) > 20)
    return crawl


def why(stack: Stack, crawl: UUID) -> str:
    return stack.within(lambda: held_because(Crawl.objects.get(pk=crawl), 0.0))


def assert_whole(stack: Stack, crawl: UUID) -> None:
    """What was asked for before is asked for once, unless its lease ran out; nothing is lost and nothing failed."""
    receipt = stack.wait_until_finished(crawl)
    same = {name: value for name, value in EXPECTED.items() if name not in {"retries", "requests"}}
    assert {name: receipt[name] for name in same} == same
    assert stack.rows("SELECT * FROM crawler_disagreement") == []
    assert [worker.poll() for worker in stack.children] == [None, None]


@pytest.mark.long
def test_a_redis_that_is_full_pauses_the_crawl_until_there_is_room(stack: Stack, site: Site) -> None:
    crawl = begun(stack, site)
    try:
        stack.redis.config_set("maxmemory", 1)
        stack.wait_for(lambda: stack.crawl(crawl)["state"] == "paused", 20)
        assert why(stack, crawl).startswith("It is paused, because Redis is full")
    finally:
        stack.redis.config_set("maxmemory", 0)
    assert_whole(stack, crawl)


@pytest.mark.long
def test_a_database_that_cannot_grow_stops_the_crawl_until_it_can(stack: Stack, site: Site) -> None:
    """As on a full disk: no file of the workers may become longer than it is."""
    crawl = begun(stack, site)
    allow(stack, 1)
    stack.wait_for(lambda: stack.redis.exists("crawler:short:database") == 1, 20)
    assert "the database cannot write to its disk" in why(stack, crawl)
    allow(stack, resource.RLIM_INFINITY)
    assert_whole(stack, crawl)
    assert stack.redis.zcard("rq:failed:crawl") == stack.redis.zcard("rq:failed:fetch") == 0


def allow(stack: Stack, longest: int) -> None:
    for worker in stack.children:
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))
