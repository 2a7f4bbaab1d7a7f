import gzip
from io import BytesIO
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from crawler.exports import sitemap
from crawler.models import Crawl
from tests.exports.test_sitemap import HTML
from tests.factories import make_crawl, make_page

pytestmark = pytest.mark.django_db

NAMES = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}


def parts(crawl: Crawl) -> dict[str, list[str]]:
    """Name -> the addresses in it, in the order of the archive."""
    with ZipFile(BytesIO(b"".join(sitemap.pieces(crawl)))) as archive:
        assert archive.testzip() is None
        return {name: addresses(archive.read(name), name) for name in archive.namelist()}


def addresses(raw: bytes, name: str) -> list[str]:
    plain = gzip.decompress(raw) if name.endswith(".gz") else raw
    return [str(place.text) for place in ElementTree.fromstring(plain).findall("*/s:loc", NAMES)]  # noqa: S314 (our own)


def a_crawl_of(pages: int) -> Crawl:
    crawl = make_crawl("http://site.test/start/")
    for number in range(pages):
        make_page(crawl, f"http://site.test/{number}", **HTML)
    return crawl


def test_pages_are_split_and_the_index_names_the_parts_at_the_sites_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MOST_URLS", 2)
    assert parts(a_crawl_of(5)) == {
        "sitemap-1.xml.gz": ["http://site.test/0", "http://site.test/1"],
        "sitemap-2.xml.gz": ["http://site.test/2", "http://site.test/3"],
        "sitemap-3.xml.gz": ["http://site.test/4"],
        "sitemap.xml": [f"http://site.test/sitemap-{number}.xml.gz" for number in (1, 2, 3)],
    }


def test_no_part_is_larger_than_one_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MOST_BYTES", 250)
    with ZipFile(BytesIO(b"".join(sitemap.pieces(a_crawl_of(9))))) as archive:
        sizes = [len(gzip.decompress(archive.read(name))) for name in archive.namelist() if name.endswith(".gz")]
    assert len(sizes) > 1
    assert max(sizes) <= 250


def test_a_crawl_with_nothing_to_list_is_one_empty_sitemap() -> None:
    assert parts(a_crawl_of(0)) == {"sitemap-1.xml.gz": [], "sitemap.xml": ["http://site.test/sitemap-1.xml.gz"]}
