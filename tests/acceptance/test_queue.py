"""A crawl is used as a queue, with real workers: pages are added while it runs and while it waits."""

from uuid import UUID

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


def test_pages_are_added_to_a_crawl_that_waits_for_them_and_it_is_finished_on_demand(crew: Stack) -> None:
    with Site(PAGES).serving() as site:
        crawl = crew.start(f"{site.url}/", stay_open=True)
        crew.wait_for(lambda: crew.crawl(crawl)["outcomes"] == '{"2xx": 2}')
        added(crew, crawl, f"{site.url}/three", delay=3600.0)
        added(crew, crawl, f"{site.url}/one", priority=9)
        crew.wait_for(lambda: crew.crawl(crawl)["outcomes"] == '{"2xx": 4}')
        assert (crew.crawl(crawl)["state"], site.hits["/three"]) == ("running", 0)
        added(crew, crawl, f"{site.url}/three", delay=0.0)
        crew.wait_for(lambda: site.hits["/three"] == 1)
        finish(crew, crawl)
        receipt = crew.wait_until_finished(crawl)
    assert adds_up(receipt)
    assert site.hits == dict.fromkeys((*PAGES, "/robots.txt"), 1)


def finish(crew: Stack, crawl: UUID) -> None:
    def act() -> None:
        from crawler.api import python

        python.finish(crawl)

    crew.within(act)
