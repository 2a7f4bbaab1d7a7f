"""One host's delay and connections are kept by all workers together."""

import pytest

from tests.site import Reply, Site, page
from tests.stack import Stack

WORKERS = 3
DELAY = 0.4
SLOW_ON_THEIR_WAY = 2  # of fifteen requests, on a busy machine
STAR = {"/": page(*(f"/{number}" for number in range(14)))} | {f"/{number}": page() for number in range(14)}


def crawled(crew: Stack, site: Site, **options: object) -> None:
    crew.wait_until_finished(crew.start(f"{site.url}/", **options))


def test_a_delay_is_kept_over_three_workers(crew: Stack) -> None:
    with Site(STAR).serving() as site:
        crawled(crew, site, delay=DELAY)
    assert len(site.requests) == len(STAR) + 1
    assert len(site.out_of_turn(DELAY)) <= SLOW_ON_THEIR_WAY


@pytest.mark.long
def test_a_crawl_delay_in_robots_txt_is_kept(crew: Stack) -> None:
    with Site(STAR | {"/robots.txt": Reply(f"User-agent: *\nCrawl-delay: {DELAY}")}).serving() as site:
        crawled(crew, site)
    assert len({*site.out_of_turn(DELAY)} - {"/robots.txt"}) <= SLOW_ON_THEIR_WAY  # which came before it was known


@pytest.mark.parametrize("connections", [pytest.param(1, marks=pytest.mark.long), 2])
def test_no_more_connections_than_allowed_are_used_at_a_time(crew: Stack, connections: int) -> None:
    thinking = 0.1
    slow = {path: Reply(body, after=thinking) for path, body in STAR.items()}
    with Site(slow).serving() as site:
        crawled(crew, site, concurrency=connections)
    moments = sorted(request.at for request in site.requests if request.path != "/robots.txt")
    busiest = max(sum(1 for other in moments if moment <= other < moment + thinking * 0.9) for moment in moments)
    assert busiest <= connections
