"""Two crawls at once, also of the same site, do not disturb one another."""

import pytest

from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.stack import Stack


@pytest.mark.long
def test_two_crawls_of_one_site_each_find_every_page(stack: Stack) -> None:
    with small_site().serving() as site:
        for _ in range(2):
            stack.start_worker()
        crawls = [stack.start(f"{site.url}/"), stack.start(f"{site.url}/")]
        receipts = [stack.wait_until_finished(crawl) for crawl in crawls]
        for receipt in receipts:  # the page that is busy once is busy for one of them only
            assert {**EXPECTED, "retries": receipt["retries"]} == {name: receipt[name] for name in EXPECTED}
        assert sum(receipt["retries"] for receipt in receipts) == 1
        assert max(times for path, times in site.hits.items() if path != "/busy") <= 2
        stack.wait_for(lambda: not stack.left_over(), 10)
