"""Pages in a sitemap that no other page links to."""

from __future__ import annotations

from crawler.core.text.controls import by_surface
from crawler.models import Crawl
from crawler.reports.catalogue.page_queries import answer
from crawler.reports.catalogue.report import RESPONSE, PageRows, Report, ReportGroup, ReportRow, page_column
from crawler.reports.links import knows_orphans, orphans

_SITEMAPS = by_surface(command="--sitemaps", page="“Read the site's sitemaps”", api="`sitemaps`")


def _lines(crawl: Crawl) -> PageRows:
    return PageRows(crawl, orphans(crawl), ("url", "outcome", "http_status", "title", "lastmod"), _line)


def _line(page: int, url: str, outcome: str, http_status: int | None, title: str, lastmod: str) -> ReportRow:
    return ReportRow((url, answer(outcome, http_status), title, lastmod), page)


def _lacking(crawl: Crawl) -> str:
    if knows_orphans(crawl):
        return ""
    return f"This crawl read no sitemaps, or followed no links. Crawl again with {_SITEMAPS}."


ORPHANS = Report(
    slug="orphans",
    title="Orphans",
    group=ReportGroup.LINKS,
    about="Pages in a sitemap that no other page links to. A crawl with limits may list too many.",
    remedy="Link to each page, or remove it from the sitemap.",
    praise="Every page in a sitemap is linked from another.",
    columns=(page_column("url"), RESPONSE, page_column("title"), page_column("lastmod")),
    lines=_lines,
    lacking=_lacking,
)
