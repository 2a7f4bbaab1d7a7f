"""Fetch jobs begin to tell what pages say with their next slice."""

from crawler.capabilities.traps.crawl_keys import LISTENING
from crawler.capabilities.traps.result_fields import SAID
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness.host_rules import Pace
from crawler.core.protocol.messages import decode_report
from crawler.crawls.start import start_crawl
from crawler.fetcher.loop import fetch
from crawler.frontier.keys import CrawlKeys
from crawler.queueing import queues
from tests.bench import Bench
from tests.site import Reply, page


def _listen(bench: Bench) -> Reply:
    queues.connection().set(CrawlKeys(str(bench.crawl.id)).of(LISTENING), 1)
    return Reply(page())


def _told(bench: Bench) -> list[tuple[int, bool]]:
    """Of each page that was fetched: its slice, and whether its result has what it says."""
    reports = [decode_report(raw) for raw in bench.context.frontier.results.read(99)]
    return sorted((report.slice, SAID.of(result) is not None) for report in reports for result in report.results)


def test_a_batch_that_is_out_already_tells_what_the_pages_of_its_next_slice_say(bench: Bench) -> None:
    paths = ["/first", "/second", "/third", "/fourth"]
    bench.site.pages |= {path: page() for path in paths}
    bench.site.pages["/first"] = lambda _: _listen(bench)
    options = CrawlOptions(obey_robots=False, concurrency=1)
    bench.crawl = start_crawl([f"{bench.site.url}{path}" for path in paths], options, allow_private=True)
    bench.context.frontier.ready_queue.set_paces({bench.site.host: Pace(slices=4, pages=1)})
    bench.work("crawl", at_most=1)
    fetch(bench.batches()[0])
    assert _told(bench) == [(0, False), (1, True)]
