"""The simulated web is the same for the same seed, and has everything that a crawler can come upon."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from tests.sim.answers import page_reply, robots_text
from tests.sim.world import Answer, Health, Robots, World


@pytest.fixture(scope="module")
def world() -> World:
    return World.from_seed(7, hosts=400, port=8080, largest=60, hanging=2, refusing=3, outside=4)


def test_one_seed_makes_one_world(world: World) -> None:
    assert World.from_seed(7, hosts=400, port=8080, largest=60, hanging=2, refusing=3, outside=4) == world
    assert World.from_seed(8, hosts=400, port=8080, largest=60, hanging=2, refusing=3, outside=4) != world


def test_it_can_be_sent_to_the_server(world: World) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(world), type=World) == world


def test_every_host_has_an_address_of_its_own_on_loopback() -> None:
    addresses = [host.address for host in World.from_seed(1, hosts=3000, port=80).hosts]
    assert len(set(addresses)) == len(addresses)
    assert all(1 <= int(part) <= 250 for address in addresses for part in address.split(".")[2:])
    assert {address.split(".")[0] for address in addresses} == {"127"}


def test_it_has_every_kind_of_answer_robots_and_host(world: World) -> None:
    assert {page.answer for host in world.hosts for page in host.pages} == set(Answer)
    assert {host.robots for host in world.hosts} == set(Robots)
    assert Counter(host.health for host in world.hosts) == {
        Health.WELL: 399,
        Health.HANGING: 2,
        Health.REFUSING: 3,
    }
    assert any(page.forbidden for host in world.hosts for page in host.pages)
    assert any(host.crawl_delay for host in world.hosts)


def test_links_stay_within_hosts_and_cross_them_and_leave_the_crawl(world: World) -> None:
    links = [(number, link) for number, host in enumerate(world.hosts) for page in host.pages for link in page.links]
    assert any(number == link[0] for number, link in links)
    assert any(number != link[0] and world.hosts[link[0]].inside for number, link in links)
    assert any(not world.hosts[link[0]].inside for _, link in links)


def test_no_host_is_larger_than_the_largest_and_the_average_is_about_what_was_asked_for(world: World) -> None:
    sizes = [len(host.pages) for host in world.hosts if host.inside]
    assert max(sizes) == 60
    assert 6 <= sum(sizes) / len(sizes) <= 11


def test_a_link_on_its_own_host_is_written_without_it() -> None:
    world = World.from_seed(7, hosts=20, port=8080)
    number, place = next(
        (number, place)
        for number, host in enumerate(world.hosts)
        for place, page in enumerate(host.pages)
        if page.answer is Answer.PAGE and any(link[0] != number for link in page.links)
    )
    page = world.page((number, place))
    html = page_reply(world, number, page, 0).body
    for link in page.links:
        href = world.page(link).path if link[0] == number else world.url(link)
        assert f'href="{href}"' in html


def test_a_page_in_trouble_says_so_once_and_then_is_fine(world: World) -> None:
    page = next(page for host in world.hosts for page in host.pages if page.answer is Answer.LIMITED)
    first, second = page_reply(world, 0, page, 0), page_reply(world, 0, page, 1)
    assert (first.status, second.status) == (429, 200)
    assert f"Retry-After: {page.retry_after}\r\n".encode() in first.encoded()
    assert b"Retry-After" not in second.encoded()


def test_robots_rules_forbid_exactly_the_forbidden_pages(world: World) -> None:
    for host in world.hosts:
        rules = robots_text(host)
        if host.closed_to:
            assert f"Disallow: {host.closed_to}\n" in rules
        for page in host.pages:
            assert page.forbidden is bool(host.closed_to and page.path.startswith(host.closed_to))
