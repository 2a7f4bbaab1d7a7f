"""The export formats, and the format of a file name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import ClassVar, Protocol, Unpack

import msgspec

from crawler import extras
from crawler.core.errors import BadInput
from crawler.core.pages.content_formats import HTML, MARKDOWN, PDF, SCREENSHOT, TEXT, WARC
from crawler.exports import content_zip, csv, graphml, jsonl, links, parquet, sitemap, warc, xlsx
from crawler.exports.file import Piece, format_by_name, gathered
from crawler.exports.rows import ExportFilter
from crawler.extras import Extra
from crawler.models import Crawl


class Pieces(Protocol):
    """An export, piece by piece."""

    def __call__(self, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str] | Iterator[bytes]: ...


class Check(Protocol):
    """BadInput when an export cannot be made, before anything of it is written."""

    def __call__(self, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None: ...


def _always(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """Any crawl can be exported."""


class Format(msgspec.Struct, frozen=True):
    """One export format. A call returns the pieces to write; BadInput when the crawl cannot be exported so."""

    do_not_call_in_templates: ClassVar[bool] = True  # otherwise Django calls it

    name: str  # for users
    about: str  # its content, in a few words
    media_type: str
    pieces: Pieces
    check: Check = _always
    is_text: bool = True
    what: str = "pages"  # the beginning of a downloaded file's name
    has_externals: bool = False  # it can hold links to other sites in place of the pages
    endings: tuple[str, ...] = ()  # of file names, besides its key
    form: str = ""  # of kept content, see `core.options.catalogue`; only crawls that keep it have this export
    extra: Extra | None = None  # the packages that write it

    @property
    def missing(self) -> str:
        """What has to be installed for it; "" = nothing."""
        return self.extra.missing if self.extra is not None else ""

    def check_installed(self, field: str = "format") -> None:
        """BadInput when what writes it is not installed."""
        if self.missing:
            raise BadInput(field, self.missing)

    def __call__(self, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[Piece]:
        self.check_installed()
        self.check(crawl, **chosen)
        return gathered(self.pieces(crawl, **chosen))


def _zip(name: str, form: str) -> Format:
    return Format(
        name,
        "the stored content, one file per page",
        "application/zip",
        partial(content_zip.pieces, form),
        check=partial(content_zip.check, form),
        is_text=False,
        what=form,
        form=form,
    )


CONTENT_FORMATS = {
    "warc.gz": Format(
        "WARC",
        "requests and responses, for archives and replay tools",
        "application/warc",
        warc.pieces,
        check=warc.check,
        is_text=False,
        what="crawl",
        endings=("warc",),
        form=WARC,
        extra=extras.WARC,
    ),
    "html.zip": _zip("HTML", HTML),
    "text.zip": _zip("Text", TEXT),
    "markdown.zip": _zip("Markdown", MARKDOWN),
    "screenshot.zip": _zip("Screenshots", SCREENSHOT),
    "pdf.zip": _zip("PDF", PDF),
}
"""Formats of crawls that keep content."""

FORMATS: Mapping[str, Format] = {
    "csv": Format(
        "CSV", "a table of the pages for any spreadsheet", "text/csv; charset=utf-8", csv.lines, has_externals=True
    ),
    "xlsx": Format(
        "Excel",
        "the same table as a workbook, up to 1,048,575 pages",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        xlsx.pieces,
        check=xlsx.check,
        is_text=False,
        has_externals=True,
        extra=extras.XLSX,
    ),
    "jsonl": Format("JSON lines", "one JSON object per page", "application/jsonl", jsonl.lines, has_externals=True),
    "parquet": Format(
        "Parquet",
        "typed columns for DuckDB, pandas, Spark",
        "application/vnd.apache.parquet",
        parquet.pieces,
        is_text=False,
        has_externals=True,
        extra=extras.PARQUET,
    ),
    **CONTENT_FORMATS,
    "links.csv": Format(
        "Links",
        "every link: source, target, text, rel, status of the target, problem",
        "text/csv; charset=utf-8",
        links.lines,
        what="links",
        has_externals=True,
    ),
    "graphml": Format(
        "GraphML",
        "pages and links for Gephi, yEd, NetworkX",
        "application/graphml+xml",
        graphml.lines,
        check=graphml.check,
        what="graph",
    ),
    "sitemap.xml": Format(
        "Sitemap",
        "indexable pages, up to 50,000",
        "application/xml",
        sitemap.lines,
        check=sitemap.check,
        what="sitemap",
        endings=("xml",),
    ),
    "sitemap.zip": Format(
        "Sitemaps",
        "several compressed sitemaps with their index, without a limit",
        "application/zip",
        sitemap.pieces,
        check=sitemap.check_zip,
        is_text=False,
        what="sitemaps",
    ),
}
"""Every format by its key, which is the value of `--format` and the ending of a file name."""


def formats_for(crawl: Crawl) -> dict[str, Format]:
    """The formats this crawl can be exported to."""
    return {key: made for key, made in FORMATS.items() if made.form in ("", *crawl.chosen.keep)}


def file_name(crawl: Crawl, key: str, *, externals: bool = False) -> str:
    """The file name of a download."""
    ending = key if key.endswith(".gz") else key.rpartition(".")[2]
    return f"{'links' if externals else FORMATS[key].what}-{crawl.id}.{ending}"


ENDINGS = {ending: key for key, made in FORMATS.items() for ending in (key, *made.endings)}
"""The ending of a file's name -> its format."""


def format_of(file: str) -> str:
    """The format with the longest matching ending; "-" (standard output) is JSON lines."""
    return format_by_name(file, ENDINGS)
