"""Which crawls a list has."""

from uuid import UUID

import pytest

from crawler.core.protocol.completion import State
from crawler.models import Crawl
from crawler.reports.crawl_search import CrawlSearch
from tests.factories import a_crawl, a_person

pytestmark = pytest.mark.django_db

NOBODY, PAUSED, LIST = "https://one.example/", "https://Two.example/a", "shops.csv"


@pytest.fixture
def names() -> dict[UUID, str]:
    """Row -> what it is called here."""
    ann = a_person("ann")
    return {
        a_crawl(start_urls=[NOBODY]).pk: NOBODY,
        a_crawl(start_urls=[PAUSED], owner=ann, state=State.PAUSED).pk: PAUSED,
        a_crawl(start_urls=[], source=LIST, owner=ann).pk: LIST,
    }


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        (CrawlSearch(), {NOBODY, PAUSED, LIST}),
        (CrawlSearch(states=[State.PAUSED]), {PAUSED}),
        (CrawlSearch(states=[State.PAUSED, State.RUNNING]), {NOBODY, PAUSED, LIST}),
        (CrawlSearch(text="two.EXAMPLE"), {PAUSED}),
        (CrawlSearch(text="SHOPS"), {LIST}),
        (CrawlSearch(owner="ann"), {PAUSED, LIST}),
        (CrawlSearch(owner="ann", text="example"), {PAUSED}),
        (CrawlSearch(owner="nobody"), set()),
    ],
)
def test_it_finds(search: CrawlSearch, expected: set[str], names: dict[UUID, str]) -> None:
    assert {names[crawl.pk] for crawl in search.among(Crawl.objects.all())} == expected
