"""Pages that had errors while they loaded in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db.models import Q

from crawler.capabilities.browser.options import NEVER, RenderOptions
from crawler.capabilities.browser.page_load import FAILED
from crawler.core.text.controls import by_surface
from crawler.models import Crawl, PageLoad
from crawler.reports.catalogue.report import (
    Cells,
    CellType,
    PageRows,
    Report,
    ReportColumn,
    ReportRow,
    ReportTable,
    RowDetail,
    RowList,
    page_column,
)
from crawler.storage.queries import site_pages

_RENDERED = by_surface(command="--render auto", page="“Render in a browser”", api='`render` "auto"')


_GROUP = "In the browser"
_PAGE = ReportColumn("page", "On the page", CellType.URL)
_MESSAGE = (ReportColumn("message", "Message"),)
_REQUEST = (
    ReportColumn("request", "Request", CellType.URL),
    ReportColumn("kind", "Type"),
    ReportColumn("status", "Status", CellType.NUMBER),
    ReportColumn("error", "Error"),
)

HAS_CONSOLE_ERRORS = Q(load__console_errors__gt=0)
HAS_FAILED_REQUESTS = Q(load__failed_requests__gt=0)

Rows = Callable[[PageLoad], Sequence[Cells]]
"""What a report lists of one page."""


def _messages(load: PageLoad) -> list[Cells]:
    return [(line,) for line in load.console]


def _failed(load: PageLoad) -> list[Cells]:
    failed = (request for request in load.requests if request.get("problem") == FAILED)
    return [(request["url"], request["kind"], request.get("status"), request.get("error", "")) for request in failed]


def _lacking(crawl: Crawl) -> str:
    if RenderOptions.of(crawl.chosen).render != NEVER:
        return ""
    return f"This crawl rendered no pages. Crawl again with {_RENDERED}."


def _report(number: str, which: Q, shown: tuple[ReportColumn, ...], rows_of: Rows, **described: Any) -> Report:
    """A line for each page with its `number`, the largest first, and what it counts behind it."""

    def lines(crawl: Crawl) -> PageRows:
        pages = site_pages(crawl).filter(which).order_by(f"-load__{number}", "id")
        return PageRows(crawl, pages, ("url", f"load__{number}"), _line)

    def part(crawl: Crawl, key: str) -> RowDetail | None:
        loads = PageLoad.objects.filter(crawl=crawl, **{f"{number}__gt": 0}).select_related("page")
        load = loads.filter(page_id=int(key)).first() if key.isdecimal() and len(key) < 19 else None
        if load is None:
            return None
        return RowDetail(
            f"{described['title']}: {load.page.url}", shown, RowList([ReportRow(cells) for cells in rows_of(load)])
        )

    def whole(crawl: Crawl) -> Iterator[Cells]:
        pages = site_pages(crawl).filter(which).select_related("load").order_by("id")
        for page in pages.iterator(chunk_size=100):
            yield from ((page.url, *cells) for cells in rows_of(page.load))

    return Report(
        group=_GROUP,
        columns=(_PAGE, page_column(number)._replace(opens=True)),
        which=which,
        lines=lines,
        part=part,
        lacking=_lacking,
        whole=ReportTable((_PAGE, *shown), whole),
        **described,
    )


def _line(page: int, url: str, number: int) -> ReportRow:
    return ReportRow((url, number), page, str(page))


CONSOLE_ERRORS = _report(
    "console_errors",
    HAS_CONSOLE_ERRORS,
    _MESSAGE,
    _messages,
    slug="console-errors",
    title="Console errors",
    about="Rendered pages with errors on the browser's console: exceptions of scripts, and files that could not be "
    "loaded. The first 50 of each page are stored.",
    remedy="Correct the script with the developer tools of a browser.",
    praise="No rendered page had an error on the console.",
)
FAILED_REQUESTS = _report(
    "failed_requests",
    HAS_FAILED_REQUESTS,
    _REQUEST,
    _failed,
    slug="failed-requests",
    title="Failed requests",
    about="Rendered pages with requests that got no response, or a status of 400 or above. Requests that the crawler"
    " blocked itself (images, forbidden by robots.txt) are not included.",
    remedy="Correct or remove the addresses of the missing files.",
    praise="Every request of the rendered pages succeeded.",
)

REPORTS = (CONSOLE_ERRORS, FAILED_REQUESTS)
