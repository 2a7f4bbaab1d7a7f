"""The indexable pages of a crawl as a sitemap (https://www.sitemaps.org/protocol.html)."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from typing import Unpack
from zipfile import ZIP_STORED, ZipFile

from django.db.models import Exists, OuterRef, Q, QuerySet

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import SUCCESSES
from crawler.core.protocol.messages import PAGE
from crawler.core.urls.normalise import origin_of
from crawler.exports.file import Sink
from crawler.exports.graphml import in_xml
from crawler.exports.rows import NOT_INDEXED, ExportFilter, refuse_externals, selected
from crawler.models import Crawl, Page, PageFacts

MOST_URLS = 50_000
MOST_BYTES = 50 * 1024 * 1024
"""Of one sitemap, by the protocol."""

HTML = ("text/html", "application/xhtml+xml")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
TAIL = "</urlset>\n"
CHUNK = 1000  # pages in memory at a time

_W3C = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?)?)?")  # www.w3.org/TR/NOTE-datetime


def check(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when one sitemap cannot hold the pages."""
    refuse_externals("A sitemap", **chosen)
    if _is_too_much(crawl, **chosen):
        raise BadInput(
            "format",
            f"A sitemap can contain at most {MOST_URLS:,} URLs and 50 MB, and this crawl has more; choose "
            "sitemap.zip, which contains several sitemaps and their index.",
        )


def lines(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str]:
    """The sitemap, one line a page."""
    yield HEAD
    yield from entries(crawl, **chosen)
    yield TAIL


def entries(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str]:
    """An element for each page, with `lastmod` when a sitemap of the site gave a valid date."""
    for url, lastmod in indexable(crawl, **chosen).values_list("url", "lastmod").iterator(chunk_size=CHUNK):
        when = f"<lastmod>{lastmod}</lastmod>" if _W3C.fullmatch(lastmod) else ""
        yield f"<url><loc>{in_xml(url)}</loc>{when}</url>\n"


def indexable(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> QuerySet[Page]:
    """HTML pages of the site with a 2xx response (or 304) that have neither noindex nor another page as canonical."""
    answered = Q(outcome__in=SUCCESSES)
    html = selected(crawl, **chosen).filter(answered, kind=PAGE, content_type__in=HTML).exclude(NOT_INDEXED)
    elsewhere = PageFacts.objects.filter(page_id=OuterRef("pk")).exclude(canonical__in=("", OuterRef("url")))
    return html.exclude(Exists(elsewhere))


def _is_too_much(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> bool:
    if indexable(crawl, **chosen).order_by().count() > MOST_URLS:
        return True
    return sum(len(line.encode()) for line in lines(crawl, **chosen)) > MOST_BYTES


# The same pages as a ZIP of gzipped sitemaps and their index.

INDEX = "sitemap.xml"

_INDEX_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
)
_INDEX_TAIL = "</sitemapindex>\n"


def check_zip(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when links to other sites are requested."""
    refuse_externals("A sitemap", **chosen)


def pieces(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[bytes]:
    """sitemap-1.xml.gz and so on, then sitemap.xml, which lists them at the root of the first start URL."""
    root, sink, names = f"{origin_of(crawl.start_urls[0])}/", Sink(), list[str]()
    with ZipFile(sink, "w", ZIP_STORED) as archive:
        for part in parts(entries(crawl, **chosen)):
            names.append(f"sitemap-{len(names) + 1}.xml.gz")
            archive.writestr(names[-1], part)
            yield sink.taken()
        archive.writestr(INDEX, _index(root, names))
    yield sink.taken()


def parts(lines: Iterable[str]) -> Iterator[bytes]:
    """Gzipped sitemaps of these entries, each of the maximum size; at least one."""
    part = _Part()
    for line in map(str.encode, lines):
        if not part.has_room(line):
            yield part.packed()
            part = _Part()
        part.add(line)
    yield part.packed()


class _Part:
    """One sitemap, compressed while it is written: of 50 MB about five are in memory."""

    def __init__(self) -> None:
        self._sink = Sink()
        self._gzip = gzip.GzipFile(fileobj=self._sink, mode="wb", mtime=0)
        self._gzip.write(HEAD.encode())
        self._urls, self._bytes = 0, len(HEAD) + len(TAIL)

    def has_room(self, line: bytes) -> bool:
        return self._urls < MOST_URLS and self._bytes + len(line) <= MOST_BYTES

    def add(self, line: bytes) -> None:
        self._gzip.write(line)
        self._urls += 1
        self._bytes += len(line)

    def packed(self) -> bytes:
        self._gzip.write(TAIL.encode())
        self._gzip.close()
        return self._sink.taken()


def _index(root: str, names: Iterable[str]) -> str:
    listed = (f"<sitemap><loc>{in_xml(root + name)}</loc></sitemap>\n" for name in names)
    return f"{_INDEX_HEAD}{''.join(listed)}{_INDEX_TAIL}"
