"""The same pages as a ZIP: as many sitemaps as the protocol asks for, each packed by gzip, and the index of them."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from typing import Unpack
from zipfile import ZIP_STORED, ZipFile

from crawler.core.urls import origin_of
from crawler.exports.selection import Chosen, of_site_alone
from crawler.exports.sink import Sink
from crawler.exports.sitemap import HEAD, MOST_BYTES, MOST_URLS, TAIL, entries
from crawler.exports.text import in_xml
from crawler.models import Crawl

INDEX = "sitemap.xml"

_INDEX_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
)
_INDEX_TAIL = "</sitemapindex>\n"


def check(crawl: Crawl, **chosen: Unpack[Chosen]) -> None:
    """BadInput when links to other sites were asked for."""
    of_site_alone("A sitemap", **chosen)


def pieces(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[bytes]:
    """sitemap-1.xml.gz and so on, then sitemap.xml, which names them at the root of the first start URL: that is
    where they are to be put."""
    root, sink, names = f"{origin_of(crawl.start_urls[0])}/", Sink(), list[str]()
    with ZipFile(sink, "w", ZIP_STORED) as archive:
        for part in parts(entries(crawl, **chosen)):
            names.append(f"sitemap-{len(names) + 1}.xml.gz")
            archive.writestr(names[-1], part)
            yield sink.taken()
        archive.writestr(INDEX, _index(root, names))
    yield sink.taken()


def parts(lines: Iterable[str]) -> Iterator[bytes]:
    """Sitemaps of these entries, each as large as one may be, packed; one at least."""
    part = _Part()
    for line in map(str.encode, lines):
        if not part.has_room(line):
            yield part.packed()
            part = _Part()
        part.add(line)
    yield part.packed()


class _Part:
    """One sitemap, packed while it is written: of 50 MB some five are in memory."""

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
