"""Pages by host."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median_low

from crawler.core.pages.outcomes import ERRORS
from crawler.core.urls.normalise import host_of
from crawler.models import Crawl
from crawler.reports import result_cache
from crawler.reports.catalogue.breakdowns import part_of
from crawler.reports.catalogue.report import (
    PAGES,
    Cells,
    CellType,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportRows,
    RowDetail,
    RowList,
)
from crawler.storage.queries import on_host, site_pages


@dataclass
class _Host:
    pages: int = 0
    errors: int = 0
    bytes: int = 0
    times: array[int] = field(default_factory=lambda: array("l"))  # ms, of pages with a response


def _lines(crawl: Crawl) -> ReportRows:
    return RowList(
        [ReportRow(cells, part=str(cells[0])) for cells in result_cache.cached("hosts", lambda: _read(crawl), crawl)]
    )


def _read(crawl: Crawl) -> list[Cells]:
    """The host with the most pages first. The table has no column of hosts, so all pages are read."""
    hosts: dict[str, _Host] = defaultdict(_Host)
    rows = site_pages(crawl).values_list("url", "outcome", "http_status", "elapsed_ms", "bytes", "reused")
    for url, outcome, http_status, elapsed_ms, size, reused in rows.iterator(chunk_size=2000):
        host = hosts[host_of(url)]
        host.pages += 1
        host.bytes += size
        host.errors += outcome in ERRORS
        if http_status is not None and not reused:
            host.times.append(elapsed_ms)
    ordered = sorted(hosts.items(), key=lambda item: (-item[1].pages, item[0]))
    return [_cells(name, host) for name, host in ordered]


def _cells(name: str, host: _Host) -> Cells:
    typical = median_low(host.times) if host.times else None
    return name, host.pages, host.errors, typical, host.bytes


def _part(crawl: Crawl, key: str) -> RowDetail | None:
    return part_of(crawl, f"Pages of {key}", site_pages(crawl).filter(on_host(key)))


HOSTS = Report(
    slug="hosts",
    title="Hosts",
    group=ReportGroup.FIGURES,
    about="Pages, broken pages and median response time of each host.",
    remedy="Investigate hosts with many errors or long times.",
    praise="The crawl has no pages yet.",
    noun="host",
    columns=(
        ReportColumn("host", "Host"),
        PAGES,
        ReportColumn("errors", "Broken", CellType.NUMBER),
        ReportColumn("median_ms", "Median time", CellType.MILLISECONDS),
        ReportColumn("bytes", "Bytes", CellType.BYTES),
    ),
    lines=_lines,
    part=_part,
    is_finding=False,
)
