"""However many pages a crawl has, an export of it takes the same memory."""

import resource
from pathlib import Path

import pytest
from django.db import connection

from crawler.exports.formats import FORMATS
from crawler.models import Crawl, Page
from tests.factories import make_crawl, make_links, make_page

PAGES = 30_000
MOST = 16 << 20  # bytes; the rows at once would take more than thirty MB

COPIED = """
    INSERT INTO crawler_page ({columns})
    WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < %s)
    SELECT {values} FROM numbers, crawler_page WHERE url = 'http://site.test/'
"""


@pytest.mark.long
@pytest.mark.django_db
def test_tens_of_thousands_of_pages_are_streamed() -> None:
    crawl = a_large_crawl()
    for name in ("csv", "graphml"):
        before = resident()
        most = max(resident() - before for _ in FORMATS[name](crawl))
        assert most < MOST, name


def resident() -> int:
    """Bytes of memory this process has now; where that is not told, the most it ever had."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def a_large_crawl() -> Crawl:
    """PAGES pages and a start page, with a link on each thousandth."""
    crawl = make_crawl(discovered=PAGES + 1)
    closed = {"status": Page.CLOSED, "outcome": "2xx", "http_status": 200, "content_type": "text/html"}
    start = make_page(crawl, "http://site.test/", title="A page", **closed)
    columns = [field.column for field in Page._meta.concrete_fields]
    key = "randomblob(16)" if connection.vendor == "sqlite" else "decode(md5(number::text), 'hex')"
    own = {"id": f"{start.id} + number", "key": key, "url": "url || number"}
    values = [own.get(column, column) for column in columns]
    with connection.cursor() as cursor:
        cursor.execute(COPIED.format(columns=", ".join(columns), values=", ".join(values)), [PAGES])
    for page in crawl.pages.order_by("id")[:PAGES:1000]:
        make_links(page, ("http://site.test/", "Home", ""))
    return crawl
