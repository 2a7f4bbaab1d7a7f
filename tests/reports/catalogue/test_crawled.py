"""What a real crawl stores is what the reports need."""

import pytest

from crawler.models import PageFacts
from tests.bench import Bench
from tests.reports.catalogue.factories import told
from tests.site import moved, page

TEXT = " ".join(f"word{number}" for number in range(600))
PAGES = {
    "/": page("/one", "/two", "/old", "/gone"),
    "/one": f"<title>One</title><h1>H</h1><p>{TEXT}",
    "/two": f"<title>Two</title><h1>H</h1><p>{TEXT} more",
    "/old": moved("/one"),
}

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("real_redis")]


@pytest.mark.site(PAGES)
def test_pages_that_say_nearly_the_same_are_found_where_that_was_asked_for(bench: Bench) -> None:
    crawl = bench.start(near_duplicates=True)
    bench.work()
    site = bench.site.url
    assert told(crawl, "near-duplicates") == [(f"{site}/one", 2)]
    assert told(crawl, "broken-links") == [(f"{site}/gone", "404", "", 1)]
    assert told(crawl, "redirects") == [(f"{site}/old", "302", f"{site}/one", 1)]
    assert told(crawl, "duplicate-h1") == [("H", 2)]


@pytest.mark.site(PAGES)
def test_no_sketch_is_made_where_it_was_not(bench: Bench) -> None:
    bench.start()
    bench.work()
    assert not PageFacts.objects.exclude(sketch=b"").exists()
