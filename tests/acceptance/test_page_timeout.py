"""A site on which some pages take too long: with a page timeout the crawl does not wait for them."""

import pytest

from tests.site import Reply, Site, page
from tests.stack import Stack

WORKERS = 1
TIMEOUT_S, THINKING = 1.0, 20.0
ATTEMPTS = 3  # of the setting


@pytest.mark.long
def test_a_slow_page_is_a_timeout_after_its_attempts_and_the_others_are_fetched(crew: Stack) -> None:
    fast = {f"/{number}": page() for number in range(20)}
    pages = {"/": page("/slow", *fast), "/slow": Reply(page(), after=THINKING), **fast}
    with Site(pages).serving() as site:
        crawl = crew.start(f"{site.url}/", page_timeout=TIMEOUT_S)
        receipt = crew.wait_until_finished(crawl)
        hits = site.hits["/slow"]
    assert (receipt["fetched"], receipt["failed"], receipt["retries"]) == (len(pages) - 1, 1, ATTEMPTS - 1)
    assert hits == ATTEMPTS
    slow = crew.pages(crawl)[f"{site.url}/slow"]
    assert (slow["outcome"], slow["http_status"], slow["attempts"]) == ("timeout", None, ATTEMPTS)
    assert slow["error"] == "not complete after 1 seconds"
    assert receipt["seconds"] < THINKING
