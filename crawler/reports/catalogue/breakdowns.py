"""Pages by response, depth and type."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, QuerySet, Sum

from crawler.core.pages.outcomes import Outcome
from crawler.models import Crawl, Page
from crawler.reports import result_cache, text
from crawler.reports.catalogue.page_queries import answer
from crawler.reports.catalogue.report import (
    PAGES,
    RESPONSE,
    CellType,
    PageRows,
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportRows,
    RowDetail,
    RowList,
    page_column,
)
from crawler.storage.queries import site_pages

OPEN, UNSAID = "open", "unsaid"  # parts of pages without an outcome, and without a type
_BYTES = ReportColumn("bytes", "Bytes", CellType.BYTES)
PAGE = (page_column("url"), RESPONSE, page_column("title"), page_column("elapsed_ms"), page_column("bytes"))


def part_of(crawl: Crawl, title: str, pages: QuerySet[Page]) -> RowDetail:
    """A part with these pages, in the order of their discovery."""
    fields = ("url", "outcome", "http_status", "title", "elapsed_ms", "bytes")
    return RowDetail(title, PAGE, PageRows(crawl, pages.order_by("id"), fields, _line))


def _line(page: int, url: str, outcome: str, http_status: int | None, *rest: str | int) -> ReportRow:
    return ReportRow((url, answer(outcome, http_status), *rest), page)


# By response


def _answers(crawl: Crawl) -> ReportRows:
    counted = site_pages(crawl).order_by().values_list("outcome", "http_status").annotate(pages=Count("id"))
    groups = result_cache.cached("statuses", lambda: list(counted), crawl)
    return RowList([_answer_line(*group) for group in sorted(groups, key=_first_answers)])


def _first_answers(group: Sequence[str | int | None]) -> tuple[bool, int, str]:
    return group[1] is None, int(group[1] or 0), str(group[0])


def _answer_line(outcome: str, http_status: int | None, pages: int) -> ReportRow:
    part = f"{outcome or OPEN}-{http_status}" if http_status else outcome or OPEN
    return ReportRow((answer(outcome, http_status), text.outcome(outcome), pages), part=part)


def _answer_part(crawl: Crawl, key: str) -> RowDetail | None:
    said, _, status = key.partition("-")
    if said != OPEN and said not in set(Outcome):
        return None
    outcome, http_status = "" if said == OPEN else said, int(status) if status.isdecimal() else None
    title = f"Pages with the response “{answer(outcome, http_status)}”"
    return part_of(crawl, title, site_pages(crawl).filter(outcome=outcome, http_status=http_status))


STATUSES = Report(
    slug="statuses",
    title="Responses",
    group=ReportGroup.FIGURES,
    about="Pages by response, or by the reason for none.",
    remedy="Look at the errors in their own reports, with the pages that link to them.",
    praise="The crawl has no pages yet.",
    noun="kind",
    columns=(RESPONSE, ReportColumn("meaning", "Meaning"), PAGES),
    lines=_answers,
    part=_answer_part,
    is_finding=False,
)


# By depth


def _depths(crawl: Crawl) -> ReportRows:
    counted = site_pages(crawl).order_by("depth").values_list("depth").annotate(pages=Count("id"))
    groups = result_cache.cached("depths", lambda: list(counted), crawl)
    return RowList([ReportRow((depth, pages), part=str(depth)) for depth, pages in groups])


def _depth_part(crawl: Crawl, key: str) -> RowDetail | None:
    if not key.isdecimal() or len(key) > 9:  # the range of the column
        return None
    return part_of(crawl, f"Pages at depth {key}", site_pages(crawl).filter(depth=int(key)))


DEPTHS = Report(
    slug="depths",
    title="Depths",
    group=ReportGroup.FIGURES,
    about="Pages by number of links from the start.",
    remedy="Bring important pages within a few links of the start.",
    praise="The crawl has no pages yet.",
    noun="depth",
    columns=(page_column("depth"), PAGES),
    lines=_depths,
    part=_depth_part,
    is_finding=False,
)


# By type


def _types(crawl: Crawl) -> ReportRows:
    answered = site_pages(crawl).filter(http_status__isnull=False).order_by().values_list("content_type")
    counted = answered.annotate(pages=Count("id"), bytes=Sum("bytes"))
    types = result_cache.cached("content-types", lambda: list(counted), crawl)
    groups = sorted(types, key=lambda group: (-group[1], group[0]))
    rows = [ReportRow((name or "not stated", pages, size), part=name or UNSAID) for name, pages, size in groups]
    return RowList(rows)


def _type_part(crawl: Crawl, key: str) -> RowDetail | None:
    answered = site_pages(crawl).filter(http_status__isnull=False)
    return part_of(crawl, f"Pages of the type {key}", answered.filter(content_type="" if key == UNSAID else key))


CONTENT_TYPES = Report(
    slug="content-types",
    title="Types",
    group=ReportGroup.FIGURES,
    about="Responses by content type. Only HTML bodies are parsed.",
    remedy="Set a missing (“not stated”) or wrong type in the server: browsers have to guess it.",
    praise="No page has responded yet.",
    noun="type",
    columns=(page_column("content_type"), PAGES, _BYTES),
    lines=_types,
    part=_type_part,
    is_finding=False,
)
