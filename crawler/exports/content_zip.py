"""The content of pages as a ZIP: a file for each, and a table of files and URLs."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Unpack
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from crawler.core.errors import BadInput
from crawler.core.pages.content_formats import PICTURES
from crawler.core.text.gzip import Broken
from crawler.core.text.sanitize import file_name
from crawler.exports.csv import record
from crawler.exports.file import Sink
from crawler.exports.rows import ExportFilter, check_kept, kept
from crawler.models import Crawl, PageFacts
from crawler.storage.content.kept import ending_of
from crawler.storage.content.objects import unpacked

MAX_FILES = 200_000  # the directory at the end of a ZIP is in memory until then: about 100 MB
MAX_FILE_BYTES = 64 * 1024 * 1024
INDEX = "index.csv"


def check(form: str, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when the crawl keeps no such content, or too much of it."""
    check_kept(form, crawl, **chosen)
    if PageFacts.objects.filter(crawl=crawl).exclude(kept={}).count() > MAX_FILES:
        raise BadInput(
            "format", f"A ZIP can contain the content of at most {MAX_FILES:,} pages; choose fewer pages, or WARC."
        )


def pieces(form: str, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[bytes]:
    """The files in the order of an export, then the table: file and URL, one a line."""
    sink, ending = Sink(), ending_of(form, crawl)
    method = ZIP_STORED if form in PICTURES else ZIP_DEFLATED  # pictures are packed in themselves
    with ZipFile(sink, "w", method) as archive, SpooledTemporaryFile(max_size=1 << 20) as index:
        index.write(record(("file", "url")).encode())
        for page in kept(form, crawl, **chosen):
            try:
                content = unpacked(page.member, MAX_FILE_BYTES)
            except Broken:
                continue
            name = file_name(page.url, page.page, ending)
            archive.writestr(name, content)
            index.write(record((name, page.url)).encode())
            yield sink.taken()
        index.seek(0)
        with archive.open(INDEX, "w", force_zip64=True) as entry:
            while piece := index.read(1 << 20):
                entry.write(piece)
                yield sink.taken()
    yield sink.taken()
