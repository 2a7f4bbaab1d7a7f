"""One page that asks to come again in an hour does not shut its site."""

import time

import pytest

from tests.site import Reply, Site, page
from tests.stack import Stack

WORKERS = 2
PAGES = 300
LOSS = 30.0  # seconds that such a page may cost, see docs/operations.md
LEAVES = {f"/{number}": page(f"/{number * 2 + 1}", f"/{number * 2 + 2}") for number in range(PAGES // 2)} | {
    f"/{number}": page() for number in range(PAGES // 2, PAGES + 1)
}


def site_with(status: int) -> Site:
    asked_to_wait = Reply(page(), status=status, headers={"Retry-After": "3600"})
    return Site(LEAVES | {"/": page("/1", "/2"), "/17": asked_to_wait})


@pytest.mark.long
@pytest.mark.parametrize("status", [429, 503])
def test_one_page_of_three_hundred_costs_seconds(crew: Stack, status: int) -> None:
    undisturbed = Site(LEAVES | {"/": page("/1", "/2")})
    with undisturbed.serving(), site_with(status).serving() as site:
        began = time.monotonic()
        crew.wait_until_finished(crew.start(f"{undisturbed.url}/"))
        usual, began = time.monotonic() - began, time.monotonic()
        crawl = crew.start(f"{site.url}/")
        receipt = crew.wait_until_finished(crawl, patience=90)
        took = time.monotonic() - began
        again = crew.start(f"{site.url}/1", max_pages=20)
        crew.wait_until_finished(again, patience=LOSS)
    asked = set(site.hits) - {"/robots.txt"}
    assert crew.pages(crawl)[f"{site.url}/17"]["http_status"] == status
    assert receipt["discovered"] == receipt["fetched"] == len(asked)
    assert receipt["statuses"][str(status)] == 1
    assert took <= 3 * usual + LOSS
    assert site.hits["/17"] <= 2
