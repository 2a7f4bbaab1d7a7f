"""Real workers come out of every trap of a site by themselves, with every honest page of it fetched."""

from collections.abc import Iterator
from html import escape
from urllib.parse import urlsplit

import pytest

from crawler.core.protocol.counters import adds_up
from tests.capabilities.traps import sites
from tests.site import Reply, Request, Site
from tests.stack import Stack

HONEST = {f"/about/{number}" for number in range(sites.HONEST_PAGES)}


class MadeUp(Site):
    """A site whose pages are made when they are requested."""

    def __init__(self, shown: sites.Site) -> None:
        super().__init__({})
        self._shown = shown

    def answer(self, request: Request) -> Reply:
        super().answer(request)
        lines, links, objects = self._shown(request.path)
        text = "".join(f"<p>{escape(line)}</p>" for line in lines)
        anchors = "".join(f'<a href="{escape(link)}">more</a>' for link in links)
        return Reply(f"<title>Shop</title>{text}{anchors}" + "".join(f'<img src="{each}">' for each in objects))


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    with MadeUp(request.param).serving() as site:
        yield site


def crawled(stack: Stack, site: Site) -> set[str]:
    """The addresses that were requested, after a crawl that must end exactly."""
    for _ in range(2):
        stack.start_worker()
    crawl = stack.start(f"{site.url}/", obey_robots=False)
    receipt = stack.wait_until_finished(crawl)

    requested = set(site.hits)
    assert requested >= {"/", *HONEST}
    assert max(site.hits.values()) == 1
    assert adds_up(receipt)
    assert stack.rows("SELECT what FROM crawler_disagreement") == []

    traps = stack.rows("SELECT * FROM crawler_trap WHERE quarantined > 0")
    assert sum(trap["quarantined"] for trap in traps) == receipt["skipped"]["trap"]
    kept_out = {urlsplit(url).path for url, row in stack.pages(crawl).items() if row["outcome"] == "trap"}
    assert kept_out.isdisjoint(HONEST)
    return requested


# The number of requests depends on the clock: what workers have in hand when a trap is found is still requested. The
# same bounds hold round by round in `tests.capabilities.traps.test_page_filters`.
@pytest.mark.long
@pytest.mark.parametrize(
    ("site", "cost"),
    [pytest.param(sites.TRAPS["tree"], 1_500, id="tree"), pytest.param(sites.eight, 12_000, id="eight")],
    indirect=["site"],
)
def test_a_trap_costs_few_requests(stack: Stack, site: Site, cost: int) -> None:
    in_traps = crawled(stack, site) - HONEST
    assert 0 < len(in_traps) <= cost


@pytest.mark.long
@pytest.mark.parametrize("site", [pytest.param(sites.shop(900), id="shop")], indirect=True)
def test_an_honest_shop_is_crawled_whole(stack: Stack, site: Site) -> None:
    for _ in range(2):
        stack.start_worker()
    crawl = stack.start(f"{site.url}/", obey_robots=False)
    receipt = stack.wait_until_finished(crawl)
    assert set(site.hits) >= sites.reachable(sites.shop(900))
    assert receipt["skipped"] == {}
