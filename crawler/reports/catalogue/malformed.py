"""Links that cannot be parsed as URLs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from crawler.models import Crawl, PageFacts
from crawler.reports.catalogue.page_queries import IS_HTML
from crawler.reports.catalogue.report import (
    Cells,
    CellType,
    PageRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportTable,
    RowDetail,
    RowList,
)
from crawler.storage.queries import site_pages

_PAGE = ReportColumn("page", "On the page", CellType.URL)
_WRITTEN, _PROBLEM = ReportColumn("written", "Written as"), ReportColumn("problem", "Problem")
_LINK = (_WRITTEN, ReportColumn("text", "Anchor text"), ReportColumn("rel", "rel"), _PROBLEM)

HAS_MALFORMED = IS_HTML & Q(facts__malformed__isnull=False)


def _lines(crawl: Crawl) -> PageRows:
    rows = site_pages(crawl).filter(HAS_MALFORMED)
    return PageRows(crawl, rows.order_by("id"), ("url", "facts__malformed"), _line)


def _line(page: int, url: str, malformed: dict[str, Any]) -> ReportRow:
    first = malformed["links"][0]
    return ReportRow((url, malformed["number"], first["written"], first["problem"]), page, str(page))


def _part(crawl: Crawl, key: str) -> RowDetail | None:
    pages = PageFacts.objects.filter(crawl=crawl, malformed__isnull=False).select_related("page")
    facts = pages.filter(page_id=int(key)).first() if key.isdecimal() and len(key) < 19 else None
    if facts is None:
        return None
    lines = [ReportRow(cells) for cells in _cells(facts.malformed or {})]
    return RowDetail(f"Malformed links on {facts.page.url}", _LINK, RowList(lines))


def _whole(crawl: Crawl) -> Iterator[Cells]:
    rows = site_pages(crawl).filter(HAS_MALFORMED).order_by("id").values_list("url", "facts__malformed")
    for url, malformed in rows.iterator(chunk_size=100):
        yield from ((url, *cells) for cells in _cells(malformed or {}))


def _cells(malformed: dict[str, Any]) -> Iterator[Cells]:
    """A row for each stored link, and one for the number of others."""
    links = malformed.get("links", ())
    yield from ((link["written"], link["text"], link["rel"], link["problem"]) for link in links)
    if more := malformed.get("number", 0) - len(links):
        yield None, None, None, f"and {more:,} more"


MALFORMED_LINKS = Report(
    slug="malformed-links",
    title="Malformed links",
    group=ReportGroup.LINKS,
    about="Pages with links that no browser can follow because of how they are written: an invalid URL "
    "(http://[::1), or a mistyped scheme (htp:/x).",
    remedy="Correct the address on the page.",
    praise="Every link is a valid URL.",
    columns=(_PAGE, ReportColumn("number", "Links", CellType.NUMBER, opens=True), _WRITTEN, _PROBLEM),
    which=HAS_MALFORMED,
    lines=_lines,
    part=_part,
    whole=ReportTable((_PAGE, *_LINK), _whole),
)
