"""The simulated web is the same for the same seed, and has everything that a crawler can come upon."""

from collections import Counter

import msgspec

from tests.sim.answers import page_reply
from tests.sim.world import Answer, Health, Robots, World


def from_seed(seed: int) -> World:
    return World.from_seed(seed, hosts=400, port=8080, largest=60, hanging=2, refusing=3, outside=4)


def test_one_seed_makes_one_world_which_can_be_sent_to_the_server() -> None:
    world = from_seed(7)
    assert from_seed(7) == world != from_seed(8)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(world), type=World) == world


def test_it_has_every_kind_of_page_robots_host_and_link() -> None:
    world = from_seed(7)
    pages = [(host, page) for host in world.hosts for page in host.pages]
    assert {page.answer for _, page in pages} == set(Answer)
    assert {host.robots for host in world.hosts} == set(Robots)
    assert Counter(host.health for host in world.hosts) == {Health.WELL: 399, Health.HANGING: 2, Health.REFUSING: 3}
    assert any(host.crawl_delay for host in world.hosts)
    assert {page.forbidden for _, page in pages} == {True, False}
    assert max(len(host.pages) for host in world.hosts if host.inside) == 60
    links = [(number, link[0]) for number, host in enumerate(world.hosts) for page in host.pages for link in page.links]
    to = {"itself" if begin == end else world.hosts[end].inside for begin, end in links}
    assert to == {"itself", True, False}


def test_a_page_in_trouble_says_so_once_and_then_is_fine() -> None:
    world = from_seed(7)
    page = next(page for host in world.hosts for page in host.pages if page.answer is Answer.LIMITED)
    first, second = page_reply(world, 0, page, 0), page_reply(world, 0, page, 1)
    assert (first.status, second.status) == (429, 200)
    assert f"Retry-After: {page.retry_after}\r\n".encode() in first.encoded()
    assert b"Retry-After" not in second.encoded()
