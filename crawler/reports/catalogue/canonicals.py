"""Conflicts of canonical addresses."""

from __future__ import annotations

from crawler.core.html.page_metadata import NOINDEX, CanonicalProblem, follows, recorded
from crawler.core.pages.outcomes import ERRORS, Outcome
from crawler.models import Crawl
from crawler.reports import result_cache
from crawler.reports.catalogue.page_queries import IS_CANONICAL_ELSEWHERE, ReferredPage, html_pages, seen_at
from crawler.reports.catalogue.report import (
    Report,
    ReportColumn,
    ReportGroup,
    ReportRow,
    ReportRows,
    RowList,
    page_column,
)

CONFLICTS = {
    CanonicalProblem.SEVERAL: "Several canonical URLs",
    CanonicalProblem.TO_ERROR: "Leads to a page that cannot be loaded",
    CanonicalProblem.TO_REDIRECT: "Leads to a redirect",
    CanonicalProblem.TO_FORBIDDEN: "Leads to a page robots.txt forbids",
    CanonicalProblem.TO_NOINDEX: "Leads to a page marked noindex",
    CanonicalProblem.LOOP: "The canonical page leads back here",
    CanonicalProblem.CHAIN: "The canonical page has another canonical URL",
}


def _lines(crawl: Crawl) -> ReportRows:
    found = result_cache.cached("canonical-conflicts", lambda: _found(crawl), crawl)
    return RowList(
        [ReportRow((url, canonical, CONFLICTS[CanonicalProblem(said)]), page) for page, url, canonical, said in found]
    )


def _found(crawl: Crawl) -> list[tuple[int, str, str, str]]:
    """In the order of the pages, once for each conflict."""
    named = _elsewhere(crawl)
    elsewhere = dict(named.values())
    seen = seen_at(crawl, elsewhere.values())
    found = [(page, url, canonical, str(CanonicalProblem.SEVERAL)) for page, url, canonical in _several(crawl)]
    for page, (url, canonical) in named.items():
        conflict = _of_target(seen.get(canonical)) or follows(url, elsewhere)
        if conflict is not None:
            found.append((page, url, canonical, str(conflict)))
    return sorted(found)


def _of_target(target: ReferredPage | None) -> CanonicalProblem | None:
    """The conflict with the canonical page; None when the crawl does not have that page."""
    if target is None:
        return None
    if target.outcome in ERRORS:
        return CanonicalProblem.TO_ERROR
    if target.outcome == Outcome.REDIRECT:
        return CanonicalProblem.TO_REDIRECT
    if target.outcome == Outcome.ROBOTS:
        return CanonicalProblem.TO_FORBIDDEN
    return CanonicalProblem.TO_NOINDEX if recorded(target.directives, NOINDEX) else None


def _elsewhere(crawl: Crawl) -> dict[int, tuple[str, str]]:
    """Page -> its URL and its canonical address, of pages that name another page."""
    rows = html_pages(crawl).filter(IS_CANONICAL_ELSEWHERE).order_by("id")
    return {page: (url, named) for page, url, named in rows.values_list("id", "url", "facts__canonical").iterator()}


def _several(crawl: Crawl) -> list[tuple[int, str, str]]:
    rows = html_pages(crawl).filter(facts__canonicals__gt=1)
    return list(rows.values_list("id", "url", "facts__canonical"))


CANONICAL_CONFLICTS = Report(
    slug="canonical-conflicts",
    title="Canonical conflicts",
    group=ReportGroup.INDEXING,
    about="Pages whose canonical URL is unusable: there are several, or it leads to a redirect, an error, a noindex "
    "page, or a page with another canonical URL.",
    remedy="Point every copy to one page that responds with 200, can be indexed, and has no other canonical URL.",
    praise="Every canonical URL leads to a page that search engines can index.",
    noun="conflict",
    columns=(page_column("url"), page_column("canonical"), ReportColumn("conflict", "Problem")),
    lines=_lines,
)
