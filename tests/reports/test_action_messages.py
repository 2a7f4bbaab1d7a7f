"""What a person is told who asked to pause, resume, cancel, delete or retry."""

import pytest

from crawler.reports.text import to_delete
from tests.factories import make_crawl

pytestmark = pytest.mark.django_db


def test_a_deleted_crawl_is_named_with_its_size() -> None:
    crawl = make_crawl(discovered=1170)
    assert to_delete(crawl, deleted=True).line == "Deleted: the crawl of site.test with its 1,170 pages."
    assert to_delete(crawl, deleted=False).line == "It was already deleted."
