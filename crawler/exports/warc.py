"""The requests and responses of a crawl as one WARC file: the records of every page whose content was kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

from crawler.core.pages.content_formats import WARC
from crawler.exports.rows import ExportFilter, check_kept, kept
from crawler.models import Crawl


def check(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when the crawl keeps no WARC records."""
    check_kept(WARC, crawl, **chosen)


def pieces(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[bytes]:
    """A warcinfo record, then response and request of each page and of what it loaded: gzip members, as stored."""
    from crawler.storage.content import warc  # these two load warcio, which no other export needs
    from crawler.storage.content.shelf import about

    said = {**about(), "isPartOf": str(crawl.id), "description": f"a crawl of {crawl.site}"}
    yield warc.info(f"{crawl.id}.warc.gz", said)
    for page in kept(WARC, crawl, **chosen):
        yield page.member
