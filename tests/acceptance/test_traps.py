"""Real workers come out of every trap of a site by themselves, with every honest page of it fetched."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from crawler.core.tallies import adds_up
from tests.site import Reply, Request, Site, page
from tests.stack import OWN_WORKER, Stack

HONEST = [f"/honest/{number}" for number in range(30)]
ENTRIES = ["/calendar/2031/01", "/shop", "/board/0", "/manual/", "/login", *HONEST]


class Labyrinth(Site):
    """A site whose pages are made when they are asked for."""

    def answer(self, request: Request) -> Reply:
        super().answer(request)
        return Reply(page(*links(request.path)))


def links(address: str) -> list[str]:
    path, _, query = address.partition("?")
    match path.split("/")[1]:
        case "":
            return [*ENTRIES, "/?utm_source=itself"]
        case "calendar":
            year, month = map(int, path.split("/")[2:4])
            return [f"/calendar/{later:04}/{month % 12 + 1:02}" for later in range(year + 1, min(year + 40, 9999))]
        case "shop":
            chosen = dict(parse_qsl(query))
            changed = [{**chosen, f"f{name}": str(value)} for name in range(8) for value in range(3)]
            return [f"/shop?{urlencode(sorted(each.items()))}" for each in changed]
        case "board":
            return [f"/board/{number}?sid={hash((address, number)) % 16**16:016x}{'a1' * 8}" for number in range(10)]
        case "manual":
            return ["chapter/a.html", "chapter/b.html"]
        case "login":
            return [f"/login?{urlencode({'next': address})}"]
        case _:
            return ["/"]


@pytest.fixture
def site() -> Iterator[Site]:
    with Labyrinth({}).serving() as site:
        yield site


def test_every_trap_ends_and_no_honest_page_is_lost(stack: Stack, site: Site) -> None:
    for _ in range(2):
        stack.spawn(*OWN_WORKER)
    crawl = stack.start(f"{site.url}/", obey_robots=False)
    receipt = stack.wait_until_finished(crawl)

    asked = set(site.hits)
    assert asked >= {"/", *HONEST}
    assert {path for path in asked if path.startswith("/board/")} == {f"/board/{number}" for number in range(10)}
    assert max(site.hits.values()) == 1
    assert adds_up(receipt)
    assert stack.rows("SELECT what FROM crawler_disagreement") == []

    traps = {row["reason"]: row for row in stack.rows("SELECT * FROM crawler_trap WHERE quarantined > 0")}
    assert set(traps) == {"dates", "filters", "repeated", "longer"}
    assert sum(trap["quarantined"] for trap in traps.values()) == receipt["skipped"]["trap"]
    assert traps["dates"]["pages"] == 1000
    assert traps["filters"]["pages"] == 200
    kept_out = {urlsplit(url).path.split("/")[1] for url, row in stack.pages(crawl).items() if row["outcome"] == "trap"}
    assert kept_out == {"calendar", "shop", "manual", "login"}
