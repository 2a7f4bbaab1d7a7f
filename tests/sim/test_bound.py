"""The seconds that no polite crawl of a simulated web can stay below, in webs small enough to count by hand."""

import pytest

from tests.sim.bound import bound_of, live_hosts
from tests.sim.factories import TERMS, star
from tests.sim.truth import Terms
from tests.sim.world import Answer, Health, Host, Page, Robots, World


def seconds(*hosts: Host, terms: Terms = TERMS) -> float:
    return bound_of(World(hosts), terms).seconds


def test_it_is_the_slowest_hosts_delay_times_its_requests() -> None:
    hosts = star(0, 10, latency=0.05), star(1, 5, latency=0.05)
    assert seconds(*hosts) == pytest.approx(10 * 0.2 + 0.05)  # robots.txt and ten pages: ten delays between them
    assert bound_of(World(hosts), TERMS).host == 0


def test_a_crawl_delay_counts_where_it_is_longer() -> None:
    assert seconds(star(0, 10, latency=0.05, robots=Robots.OPEN, crawl_delay=0.5)) == pytest.approx(10 * 0.5 + 0.05)


def test_a_host_that_sends_us_away_keeps_us_for_so_long_instead_of_the_delay() -> None:
    pages = Page("/a", links=((0, 1), (0, 2))), Page("/b", Answer.LIMITED, retry_after=2), Page("/c")
    host = Host("127.0.9.1", pages, latency=0.05)
    # robots.txt, 0.2, /a, 0.2, /b is limited, 2.0, two more of which the second is 0.2 later
    assert seconds(host) == pytest.approx(0.2 + 0.2 + 2.0 + 0.2 + 0.05)


def test_a_chain_of_pages_takes_a_latency_each_when_that_is_longer_than_the_delay() -> None:
    chain = tuple(Page(f"/{place}", links=((0, place + 1),) if place < 4 else ()) for place in range(5))
    assert seconds(Host("127.0.9.1", chain, latency=1.0)) == pytest.approx(6 * 1.0)


def test_pages_that_only_a_slow_host_leads_to_wait_for_it() -> None:
    slow = Host("127.0.9.1", (Page("/a", links=((1, 1), (1, 2))),), latency=3.0)
    quick = Host("127.0.9.2", (Page("/start"), Page("/b"), Page("/c")), latency=0.1)
    bound = bound_of(World((slow, quick)), TERMS)
    assert bound.by_host[0] == pytest.approx(3.0 + 3.0)
    assert bound.by_host[1] == pytest.approx(6.0 + 0.2 + 0.1)


def test_latency_is_shared_by_as_many_connections_as_are_allowed() -> None:
    host = star(0, 8, latency=1.0)
    assert seconds(host, terms=Terms(delay=0.0, concurrency=8)) == pytest.approx(1 + 1 + 1)
    assert seconds(host, terms=Terms(delay=0.0, concurrency=1)) == pytest.approx(1 + 8)


def test_a_robots_txt_that_is_late_puts_everything_off_by_one_back_off() -> None:
    assert seconds(star(0, 2, latency=0.05, robots=Robots.LATE)) == pytest.approx(0.05 + 1.5 + 0.2 + 0.2 + 0.05)


def test_a_page_that_is_fine_the_second_time_is_asked_for_twice_and_leads_on_later() -> None:
    pages = Page("/a", Answer.FLAKY, links=((0, 1),)), Page("/b")
    assert seconds(Host("127.0.9.1", pages, latency=0.05)) == pytest.approx(0.2 + 0.05 + 1.5 + 0.05 + 0.05)


def test_a_dead_host_takes_all_attempts_and_the_others_do_not_wait_for_it() -> None:
    world = World((star(0, 2), star(1, 2, health=Health.HANGING), star(2, 2, health=Health.REFUSING)))
    bound = bound_of(world, TERMS)
    assert bound.by_host[1] == pytest.approx(3 * 10.0 + 1.5 + 3.0)
    assert bound.by_host[2] == pytest.approx(1.5 + 3.0)
    assert live_hosts(world) == {0}
    assert bound.of({0}) < 1
