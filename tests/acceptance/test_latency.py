"""A host that takes its time for an answer is asked over all the connections it allows, by a single worker."""

import pytest

from tests.site import Reply, Site, page
from tests.stack import Stack

THINKING = 0.2  # seconds
CONNECTIONS = 32
PAGES = {"/": page(*(f"/{number}" for number in range(600)))} | {
    f"/{number}": Reply(page(), after=THINKING) for number in range(600)
}


@pytest.mark.long
def test_one_worker_uses_all_connections(stack: Stack) -> None:
    with Site(PAGES).serving() as site:
        stack.start_worker()
        receipt = stack.wait_until_finished(stack.start(f"{site.url}/", concurrency=CONNECTIONS))
    assert receipt["fetched"] == len(PAGES)
    under_way = len(PAGES) * THINKING / receipt["seconds"]  # requests, on average; the first and last ones are few
    assert under_way > CONNECTIONS / 4
