"""HTTPS pages that load something over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q

from crawler.models import Crawl
from crawler.reports.catalogue.page_queries import HAS_FACTS, IS_HTML
from crawler.reports.catalogue.report import (
    Cells,
    CellType,
    PageRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportTable,
    page_column,
)
from crawler.storage.queries import site_pages

_PAGE, _LOADS = page_column("url"), ReportColumn("loads", "Loads over http", CellType.URL)

IS_MIXED = IS_HTML & HAS_FACTS & ~Q(facts__insecure=[])


def _lines(crawl: Crawl) -> PageRows:
    rows = site_pages(crawl).filter(IS_MIXED)
    return PageRows(crawl, rows.order_by("id"), ("url", "facts__insecure"), _line)


def _line(page: int, url: str, insecure: list[str]) -> ReportRow:
    return ReportRow((url, len(insecure), "\n".join(insecure)), page)


def _whole(crawl: Crawl) -> Iterator[Cells]:
    for line in _lines(crawl):
        url, _, loads = line.cells
        yield from ((url, one) for one in str(loads).split("\n"))


MIXED_CONTENT = Report(
    slug="mixed-content",
    title="Mixed content",
    group=ReportGroup.CONTENT,
    about="Pages sent over https that load images, scripts, frames, media or style sheets over http. Browsers block "
    "some of these and upgrade others.",
    remedy="Change these addresses to https.",
    praise="No https page loads anything over http.",
    columns=(_PAGE, ReportColumn("number", "Number", CellType.NUMBER), _LOADS),
    which=IS_MIXED,
    lines=_lines,
    whole=ReportTable((_PAGE, _LOADS), _whole),
)
