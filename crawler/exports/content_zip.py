"""The content of pages as a ZIP: a file for each, and a table that says which page each is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Unpack
from zipfile import ZIP_DEFLATED, ZipFile

from crawler.content.storage import unpacked
from crawler.core.crawl.options import HTML, MARKDOWN, TEXT
from crawler.core.errors import BadInput
from crawler.core.text.gzip import Broken
from crawler.core.text.sanitize import file_name
from crawler.exports.csv import separate
from crawler.exports.file import Sink
from crawler.exports.rows import Chosen, check_kept, kept
from crawler.models import Crawl, PageFacts

MOST_FILES = 200_000  # each is remembered until the end of a ZIP, where its directory stands: some 100 MB
MOST_BYTES = 64 * 1024 * 1024  # of one file
ENDINGS = {HTML: "html", TEXT: "txt", MARKDOWN: "md"}
INDEX = "index.csv"


def check(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> None:
    """BadInput when there is nothing to write, or too much."""
    check_kept(form, crawl, **chosen)
    if PageFacts.objects.filter(crawl=crawl).exclude(kept={}).count() > MOST_FILES:
        raise BadInput(
            "format", f"The content of more than {MOST_FILES:,} pages does not go into a ZIP; take fewer, or a WARC."
        )


def pieces(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[bytes]:
    """The files in the order of an export, last the table: file and URL, one a line."""
    sink = Sink()
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive, SpooledTemporaryFile(max_size=1 << 20) as index:
        index.write(_line("file", "url"))
        for page in kept(form, crawl, **chosen):
            try:
                content = unpacked(page.member, MOST_BYTES)
            except Broken:
                continue
            name = file_name(page.url, page.page, ENDINGS[form])
            archive.writestr(name, content)
            index.write(_line(name, page.url))
            yield sink.taken()
        index.seek(0)
        with archive.open(INDEX, "w", force_zip64=True) as entry:
            while piece := index.read(1 << 20):
                entry.write(piece)
                yield sink.taken()
    yield sink.taken()


def _line(*cells: str) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(map(separate, cells))
    return buffer.getvalue().encode()
