"""Real workers come out of every trap of a site by themselves, with every honest page of it fetched."""

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import pytest

from crawler.core.protocol.counters import adds_up
from tests.site import Reply, Request, Site, page
from tests.stack import Stack

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
        stack.start_worker()
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


class Endless(Site):
    """Ten texts below a parameter and ten below a path segment, with a new value in every link; and a shop in which
    every third product is sold out and says nothing else."""

    def answer(self, request: Request) -> Reply:
        super().answer(request)
        text, links = told(request.path)
        anchors = "".join(f'<a href="{link}">more</a>' for link in links)
        return Reply(f"<title>Shop</title><h1>{text}</h1>{anchors}")


def told(address: str) -> tuple[str, list[str]]:
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    if parts.path == "/":
        return "Start", ["/list?page=0&x=start", "/s/start/list/0", "/shop?page=0"]
    if parts.path == "/shop" and "page" in query:
        number = int(query["page"])
        more = [f"/shop?page={number + 1}"] if number < 14 else []
        return f"Products {number}", [*(f"/shop?id={number * 20 + place}" for place in range(20)), *more]
    if parts.path == "/shop":
        others = [f"/shop?id={int(query['id']) * factor % PRODUCTS}" for factor in (3, 7)]
        return "Sold out" if int(query["id"]) % 3 == 0 else f"Product {query['id']}", ["/", *others]
    number = int(query.get("page", parts.path.rpartition("/")[2]))
    values = [(number * factor + 1) % 10 for factor in range(1, 6)]
    if parts.path == "/list":
        return f"Text {number}", [f"/list?page={value}&x={uuid4().hex}" for value in values]
    return f"Chapter {number}", [f"/s/{uuid4().hex}/list/{value}" for value in values]


PRODUCTS = 300


@pytest.mark.long  # tests/storage/test_variants.py does the same without workers
def test_a_parameter_or_path_with_a_new_value_in_every_link_ends_within_a_thousand_pages(stack: Stack) -> None:
    with Endless({}).serving() as site:
        for _ in range(2):
            stack.start_worker()
        crawl = stack.start(f"{site.url}/", obey_robots=False)
        receipt = stack.wait_until_finished(crawl)

        asked = set(site.hits)
        assert {f"/shop?id={number}" for number in range(PRODUCTS)} <= asked
        for path in ("/list?", "/s/"):
            below = [address for address in asked if address.startswith(path)]
            assert len({told(address)[0] for address in below}) == 10
            assert len(below) < 1000
        assert adds_up(receipt)
        assert stack.rows("SELECT what FROM crawler_disagreement") == []
        traps = {row["pattern"]: row for row in stack.rows("SELECT * FROM crawler_trap")}
        assert set(traps) == {f"{site.host}/…?x=*", f"{site.host}/s/*"}
        assert sum(trap["quarantined"] for trap in traps.values()) == receipt["skipped"]["trap"]
