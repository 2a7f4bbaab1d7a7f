import csv
import io

import pytest

from crawler.exports.csv import lines
from crawler.exports.rows import KEYS
from tests.factories import make_crawl, make_page


@pytest.mark.django_db
def test_the_header_names_the_keys_and_every_page_is_a_record() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title='one, "two"\nthree')
    make_page(crawl, "http://site.test/b", http_status=200, outcome="2xx", status=1)
    header, first, second = csv.DictReader(io.StringIO("".join(lines(crawl)), newline="")), *_records(crawl)
    assert header.fieldnames == list(KEYS)
    assert first["title"] == 'one, "two"\nthree'
    assert first["http_status"] == first["parent"] == ""
    assert second["http_status"] == "200"
    assert second["url"] == "http://site.test/b"


@pytest.mark.django_db
def test_a_crawl_without_pages_is_a_header_alone() -> None:
    assert list(lines(make_crawl())) == [",".join(KEYS) + "\r\n"]


@pytest.mark.django_db
def test_a_title_that_a_spreadsheet_would_run_is_defused() -> None:
    crawl = make_crawl()
    make_page(crawl, "http://site.test/", title='=HYPERLINK("http://evil.test","click")')
    assert _records(crawl)[0]["title"] == '\'=HYPERLINK("http://evil.test","click")'


def _records(crawl: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines(crawl)), newline="")))  # type: ignore[arg-type]
