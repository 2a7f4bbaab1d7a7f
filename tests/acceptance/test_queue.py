"""A crawl is used as a queue, with real workers: pages are added while it runs, once it is over, and while it waits."""

import json
from collections.abc import Callable
from uuid import UUID

import pytest

from crawler.core.protocol.counters import adds_up
from tests.site import Site, page
from tests.stack import Stack

WORKERS = 2
PAGES = {"/": page("/a"), "/a": page(), "/one": page("/two"), "/two": page(), "/three": page()}


def added(crew: Stack, crawl: UUID, *urls: str, **place: float) -> None:
    """As code in the same project adds them."""

    def add() -> None:
        from crawler.api import python

        done = python.add(crawl, urls, **place)  # type: ignore[arg-type]
        assert (done.added + done.moved, done.refused) == (len(urls), 0)

    crew.within(add)


def state(crew: Stack, crawl: UUID) -> str:
    return str(crew.crawl(crawl)["state"])


def finished_in_round(crew: Stack, crawl: UUID) -> int:
    """0 while it runs."""
    return int(crew.crawl(crawl)["round"]) if state(crew, crawl) == "finished" else 0


def asked(site: Site) -> dict[str, int]:
    return {path: times for path, times in site.hits.items() if path != "/robots.txt"}


def test_pages_are_added_to_a_crawl_that_waits_for_them_and_it_is_finished_on_demand(crew: Stack) -> None:
    with Site(PAGES).serving() as site:
        crawl = crew.start(f"{site.url}/", stay_open=True)
        crew.wait_for(lambda: crew.crawl(crawl)["outcomes"] == '{"2xx": 2}')
        added(crew, crawl, f"{site.url}/three", delay=3600.0)
        added(crew, crawl, f"{site.url}/one", priority=9)
        crew.wait_for(lambda: crew.crawl(crawl)["outcomes"] == '{"2xx": 4}')
        assert (state(crew, crawl), site.hits["/three"]) == ("running", 0)
        added(crew, crawl, f"{site.url}/three", delay=0.0)
        crew.wait_for(lambda: site.hits["/three"] == 1)
        crew.within(_verb("finish", crawl))
        receipt = crew.wait_until_finished(crawl)
    assert adds_up(receipt)
    assert asked(site) == dict.fromkeys(PAGES, 1)


@pytest.mark.long
def test_a_crawl_that_was_over_runs_again_for_what_is_added_and_asked_for_again(crew: Stack) -> None:
    with Site(PAGES).serving() as site:
        crawl = crew.start(f"{site.url}/")
        crew.wait_for(lambda: finished_in_round(crew, crawl) == 1)
        added(crew, crawl, f"{site.url}/one")
        crew.wait_for(lambda: finished_in_round(crew, crawl) == 2)
        ids = [page["id"] for url, page in crew.pages(crawl).items() if url.endswith("/a")]
        crew.within(_verb("again", crawl, ids))
        crew.wait_for(lambda: finished_in_round(crew, crawl) == 3)
    notices = crew.rows("SELECT round, receipt FROM crawler_notice WHERE crawl_id = ? ORDER BY round", crawl.hex)
    receipts = [json.loads(notice["receipt"]) for notice in notices]
    assert [notice["round"] for notice in notices] == [1, 2, 3]
    assert [receipt["fetched"] for receipt in receipts] == [2, 4, 4]
    assert all(map(adds_up, receipts))
    assert asked(site) == {"/": 1, "/a": 2, "/one": 1, "/two": 1}


def _verb(name: str, *given: object) -> Callable[[], None]:
    def act() -> None:
        from crawler.api import python

        getattr(python, name)(*given)

    return act
