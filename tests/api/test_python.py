"""Code in the same project adds pages to crawls and requests them again."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from crawler import clock
from crawler.api import python
from crawler.models import Crawl, Page
from tests.factories import SITE, a_finished_crawl, a_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def crawl() -> Crawl:
    made = a_finished_crawl(discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    a_page(made)
    return made


def test_pages_are_added_with_a_time(crawl: Crawl) -> None:
    at = clock.now() + timedelta(hours=1)
    assert python.add(crawl, [f"{SITE}new"], not_before=at, priority=9).added == 1
    assert Page.objects.get(url=f"{SITE}new").not_before == at.timestamp()


def test_a_page_may_have_values_of_its_own(crawl: Crawl) -> None:
    at = clock.now() + timedelta(hours=1)
    items = [{"url": f"{SITE}a", "not_before": at, "customer": "4711"}, {"url": f"{SITE}b", "ttl": "soon"}, f"{SITE}c"]
    done = python.add(crawl, items, priority=2)
    assert (done.added, done.refused, done.reasons[0].url) == (2, 1, f"{SITE}b")
    page = Page.objects.get(url=f"{SITE}a")
    assert (page.priority, page.not_before, page.meta) == (2, at.timestamp(), {"customer": "4711"})


def test_pages_are_requested_again(crawl: Crawl) -> None:
    ids = Page.objects.filter(crawl=crawl).values_list("id", flat=True)
    assert python.again(str(crawl.id), ids).again == 1


def test_a_time_without_a_zone_is_refused(crawl: Crawl) -> None:
    with pytest.raises(python.BadInput, match="must have a time zone"):
        python.add(crawl, [SITE], not_before=datetime(2026, 12, 1, tzinfo=UTC).replace(tzinfo=None))
    with pytest.raises(python.BadInput, match="must have a time zone"):
        python.add(crawl, [{"url": SITE, "not_before": datetime(2026, 12, 1, tzinfo=UTC).replace(tzinfo=None)}])


@pytest.mark.parametrize("crawl_id", [UUID(int=7), "nonsense"])
def test_an_unknown_crawl_is_told(crawl_id: UUID | str) -> None:
    with pytest.raises(python.NoCrawl):
        python.add(crawl_id, [SITE])
