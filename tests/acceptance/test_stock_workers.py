"""Stock RQ workers alone, however they are started, finish a crawl that somebody else began."""

from collections.abc import Iterator

import pytest

from crawler.core.protocol.counters import adds_up
from tests.site import Reply, Site, moved, page
from tests.stack import OWN_WORKER, Stack

SECTIONS, PAGES = 5, 15

STARTED_BY = {
    "one rq worker": [("rq", "worker", "crawl", "fetch")],
    "an rq worker-pool": [("rq", "worker-pool", "crawl", "fetch", "-n", "2")],
    "manage.py rqworker": [("python", "manage.py", "rqworker", "crawl", "fetch")],
    "the project's own worker": [OWN_WORKER],
}
LONG = ("an rq worker-pool", "manage.py rqworker", "the project's own worker")


def small_site() -> Site:
    """Some 90 pages with all kinds of outcomes, every one of them reachable from the first."""
    sections = [f"/s{number}/" for number in range(SECTIONS)]
    pages: dict[str, object] = {
        "/": page(*sections, "/gone", "/old", "/loop-a", "/private/x", "/busy", "/#top", "mailto:me@example.com"),
        "/robots.txt": Reply("User-agent: *\nDisallow: /private/", headers={"Content-Type": "text/plain"}),
        "/old": moved("/new", 301),
        "/new": page("/"),
        "/loop-a": moved("/loop-b"),
        "/loop-b": moved("/loop-a"),
        "/busy": lambda before: Reply(page("/late")) if before else Reply("busy", status=503),
        "/late": page("/"),
    }
    for section in sections:
        names = [f"{section}{number}" for number in range(PAGES)]
        pages[section] = page(*names, "/")
        pages |= {name: page(section, *names[:5]) for name in names}
    return Site(pages)  # type: ignore[arg-type]  # a dict of mixed answers


EXPECTED = {
    "discovered": 1 + SECTIONS * (PAGES + 1) + 8,
    "fetched": 1 + SECTIONS * (PAGES + 1) + 7,
    "failed": 0,
    "skipped": {"robots": 1},
    "cancelled": 0,
    "statuses": {"200": 1 + SECTIONS * (PAGES + 1) + 3, "301": 1, "302": 2, "404": 1},
    "retries": 1,
}


@pytest.fixture
def site() -> Iterator[Site]:
    with small_site().serving() as site:
        yield site


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param(workers, id=name, marks=pytest.mark.long if name in LONG else ())
        for name, workers in STARTED_BY.items()
    ],
)
def test_they_alone_finish_a_crawl(stack: Stack, site: Site, workers: list[tuple[str, ...]]) -> None:
    for command in workers:
        stack.spawn(*command)
    crawl = stack.start(f"{site.url}/")
    receipt = stack.wait_until_finished(crawl)

    assert {name: receipt[name] for name in EXPECTED} == EXPECTED
    assert adds_up(receipt)
    asked_twice = {path: times for path, times in site.hits.items() if times > 1}
    assert asked_twice == {"/busy": 2}
    assert receipt["requests"] == len(site.requests)
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
    stack.wait_for(lambda: not stack.left_over(), 10)
