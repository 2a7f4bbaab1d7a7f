"""The addresses under which a large crawl is looked at, each with the time it may take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from crawler.core.pages.page_query import PagesQuery, Show, Sort
from crawler.models import Crawl, Page
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.comparison import CHANGES
from crawler.reports.page_table import chosen

TABLE_MS, PAGE_MS, REPORT_MS = 300, 300, 500
FILE_MS = 1_000  # until the first byte of a file
LAST = 10**6  # no report has so many pages: the last one is shown
FILTERS = (
    "q=word123",
    "q=nowhere to be found",
    "q=Shop+99&sort=-size",
    *(f"show={show}" for show in Show if show is not Show.ALL),
    "outcome=2xx",
    "outcome=failed",
    "outcome=timeout",
    "status=404",
    "status=5xx",
    "depth=3",
    "depth=7%2B",
    "type=application/pdf",
    "q=word7&outcome=2xx&depth=6%2B&type=text/html&sort=-time",
)


class Door(NamedTuple):
    """One GET."""

    group: str
    name: str
    address: str
    limit_ms: int
    is_part: bool = False  # asked for by htmx
    unready: str = ""  # what it says as long as it has to be asked again to be whole, which its page does by itself


def doors(crawl: Crawl, other: Crawl) -> Iterator[Door]:
    """All there are to a finished crawl, and to its comparison with the one before."""
    yield from _pages_table(crawl)
    yield from _page_views(crawl)
    yield from _crawl_views(crawl)
    yield from _reports(crawl)
    yield from _comparison(crawl, other)
    yield from _api(crawl)


def _pages_table(crawl: Crawl) -> Iterator[Door]:
    address = reverse("crawl-pages", args=[crawl.id])
    yield Door("table", "first rows", address, TABLE_MS)
    for asked in FILTERS:
        yield Door("table", asked, f"{address}?{asked}", TABLE_MS, is_part=True)
    for sort in Sort:
        for order in (sort.value, f"-{sort.value}"):
            yield Door("table", f"sort={order}", f"{address}?sort={order}", TABLE_MS, is_part=True)
            query = PagesQuery(sort=sort, descending=order != sort.value)
            place = int(crawl.discovered * 0.9)
            mark = chosen(crawl, query).values_list("id", flat=True)[place : place + 1].get()
            deep = urlencode({"sort": order, "after": mark})
            yield Door("table", f"sort={order}, nine tenths down", f"{address}?{deep}", TABLE_MS, is_part=True)
            back = urlencode({"sort": order, "before": mark})
            yield Door("table", f"sort={order}, and back", f"{address}?{back}", TABLE_MS, is_part=True)


def _page_views(crawl: Crawl) -> Iterator[Door]:
    pages = Page.objects.filter(crawl=crawl).order_by("id")
    kinds = {
        "home page, linked from every other": pages.filter(http_status=200),
        "deep page": pages.filter(http_status=200).order_by("-id"),
        "broken page": pages.filter(http_status=404),
        "redirect": pages.filter(http_status=301),
        "page without an answer": pages.filter(http_status=None),
    }
    for name, found in kinds.items():
        for page in found.values_list("id", flat=True)[:1]:
            yield Door("page", name, reverse("page-detail", args=[crawl.id, page]), PAGE_MS)


def _crawl_views(crawl: Crawl) -> Iterator[Door]:
    yield Door("crawl", "list of crawls", reverse("crawl-list"), REPORT_MS)
    yield Door("crawl", "list of crawls, filtered", f"{reverse('crawl-list')}?q=shop&state=finished", REPORT_MS)
    for name in ("detail", "status", "figures", "why", "dead-letters", "orphans", "traps", "notices", "exports"):
        yield Door("crawl", name, reverse(f"crawl-{name}", args=[crawl.id]), REPORT_MS)
    folder = {"within": "https://shop.example.com/11/"}
    for name in ("graph", "graph-data"):
        address = reverse(f"crawl-{name}", args=[crawl.id])
        yield Door("crawl", name, address, REPORT_MS)
        yield Door("crawl", f"{name}, one folder", f"{address}?{urlencode(folder)}", REPORT_MS)
    for name in ("csv", "jsonl", "parquet", "links.csv", "graphml", "sitemap.zip"):
        yield Door("export", f"{name}, first byte", reverse("crawl-export", args=[crawl.id, name]), FILE_MS)
    table = reverse("crawl-pages-export", args=[crawl.id, "csv"])
    yield Door("export", "filtered table, first byte", f"{table}?q=word12&sort=url", FILE_MS)


def _reports(crawl: Crawl) -> Iterator[Door]:
    address = reverse("crawl-reports", args=[crawl.id])
    yield Door("report", "all, with their numbers", address, REPORT_MS, unready="still being counted")
    for report in REPORTS:
        address = reverse("crawl-report", args=[crawl.id, report.slug])
        yield Door("report", report.slug, address, REPORT_MS)
        yield Door("report", f"{report.slug}, last leaf", f"{address}?page={LAST}", REPORT_MS)
        for part in [line.part for line in report.lines(crawl)[:100] if line.part][:1]:
            inner = reverse("crawl-report-part", args=[crawl.id, report.slug, part])
            yield Door("report", f"{report.slug}, behind a line", inner, REPORT_MS)
            yield Door("report", f"{report.slug}, behind a line, last leaf", f"{inner}?page={LAST}", REPORT_MS)
        file = reverse("crawl-report-export", args=[crawl.id, report.slug, "csv"])
        yield Door("report", f"{report.slug}, first byte of its file", file, FILE_MS)


def _comparison(crawl: Crawl, other: Crawl) -> Iterator[Door]:
    sides = [crawl.id, other.id]
    yield Door("compare", "with which", reverse("crawl-compare", args=[crawl.id]), REPORT_MS)
    yield Door("compare", "all, with their numbers", reverse("crawl-comparison", args=sides), REPORT_MS)
    for change in CHANGES:
        address = reverse("crawl-comparison-change", args=[*sides, change.slug])
        yield Door("compare", change.slug, address, REPORT_MS)
        yield Door("compare", f"{change.slug}, last leaf", f"{address}?page={LAST}", REPORT_MS)
        file = reverse("crawl-comparison-export", args=[*sides, change.slug, "csv"])
        yield Door("compare", f"{change.slug}, first byte of its file", file, FILE_MS)


def _api(crawl: Crawl) -> Iterator[Door]:
    yield Door("api", "crawls", "/api/v1/crawls", REPORT_MS)
    for name in ("", "/receipt", "/why", "/pages", "/pages?outcome=timeout", "/pages?q=word123", "/dead-letters"):
        yield Door("api", f"a crawl{name}", f"/api/v1/crawls/{crawl.id}{name}", REPORT_MS)
    page = _some_page(crawl.id)
    for name in ("", "/links-out", "/links-in"):
        yield Door("api", f"a page{name}", f"/api/v1/crawls/{crawl.id}/pages/{page}{name}", REPORT_MS)


def _some_page(crawl: UUID) -> int:
    return Page.objects.filter(crawl_id=crawl, http_status=200).values_list("id", flat=True).order_by("-id")[0]
