"""The list of reports in display order, and their cached numbers."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from django.db.models import Count

from crawler import registry
from crawler.core.errors import BadInput
from crawler.models import Crawl
from crawler.reports import result_cache
from crawler.reports.catalogue import (
    breakdowns,
    broken_links,
    canonicals,
    chains,
    duplicates,
    hosts,
    indexing,
    insecure,
    malformed,
    orphaned,
    performance,
    titles,
)
from crawler.reports.catalogue.report import Report
from crawler.storage.queries import site_pages

REPORTS: tuple[Report, ...] = (
    broken_links.BROKEN_LINKS,
    broken_links.EXTERNAL_BROKEN_LINKS,
    malformed.MALFORMED_LINKS,
    broken_links.REDIRECTS,
    chains.REDIRECT_CHAINS,
    chains.REDIRECT_LOOPS,
    orphaned.ORPHANS,
    titles.MISSING_TITLES,
    titles.DUPLICATE_TITLES,
    titles.MISSING_DESCRIPTIONS,
    titles.DUPLICATE_DESCRIPTIONS,
    titles.MISSING_H1,
    titles.SEVERAL_H1,
    titles.DUPLICATE_H1,
    duplicates.DUPLICATE_CONTENT,
    duplicates.NEAR_DUPLICATES,
    insecure.MIXED_CONTENT,
    indexing.NON_INDEXABLE,
    canonicals.CANONICAL_CONFLICTS,
    performance.SLOW_FIRST_BYTE,
    performance.SLOW_PAGES,
    performance.LARGE_PAGES,
    performance.DEEP_PAGES,
    *registry.entries("reports", Report),
    breakdowns.STATUSES,
    breakdowns.DEPTHS,
    breakdowns.CONTENT_TYPES,
    hosts.HOSTS,
)

BY_SLUG = {report.slug: report for report in REPORTS}


def report_named(slug: str) -> Report:
    """The report of this name; BadInput when there is none."""
    if slug not in BY_SLUG:
        raise BadInput("report", f"No report is called {slug!r}. Choose one of: {', '.join(BY_SLUG)}.")
    return BY_SLUG[slug]


NUMBER_TTL_S = 24 * 3600  # seconds a number is cached, of a crawl that is over
RUNNING_NUMBER_TTL_S = 30  # seconds
BUDGET = 0.5  # seconds after which a request counts no further report

Numbers = dict[str, int]
"""Slug -> number, without reports that this crawl has no data for or that are not counted yet."""


def numbers_of(crawl: Crawl, budget: float | None = None, now: Callable[[], float] = monotonic) -> Numbers:
    """The number of each report that the crawl has data for. After `budget` seconds the rest is left for the next call.

    One query counts all reports over pages that meet a condition; each of the others has its own query.
    """
    wanted = {_key(crawl, report): report for report in REPORTS if not report.lacking(crawl)}
    found: dict[str, int] = result_cache.cache_for(crawl).get_many(wanted)
    rest = [key for key in wanted if key not in found]
    _count(crawl, {key: wanted[key] for key in rest if wanted[key].which is not None}, found)
    began = now()
    for key in rest:
        if key in found:
            continue
        if budget is not None and now() - began > budget:
            break
        found[key] = wanted[key].count(crawl)
        _keep(crawl, {key: found[key]})
    return {wanted[key].slug: number for key, number in found.items()}


def number_of(crawl: Crawl, report: Report) -> int:
    """The number of this report."""
    key = _key(crawl, report)
    known: int | None = result_cache.cache_for(crawl).get(key)
    if known is None:
        known = report.count(crawl)
        _keep(crawl, {key: known})
    return known


def _count(crawl: Crawl, reports: dict[str, Report], found: dict[str, int]) -> None:
    """Count pages for all of these with one query."""
    if not reports:
        return
    names = {report.slug.replace("-", "_"): key for key, report in reports.items()}
    counts = {name: Count("id", filter=reports[key].which) for name, key in names.items()}
    numbers = {names[name]: number for name, number in site_pages(crawl).aggregate(**counts).items()}
    found.update(numbers)
    _keep(crawl, numbers)


def _keep(crawl: Crawl, numbers: dict[str, int]) -> None:
    result_cache.cache_for(crawl).set_many(numbers, NUMBER_TTL_S if crawl.is_over else RUNNING_NUMBER_TTL_S)


def _key(crawl: Crawl, report: Report) -> str:
    return f"reports:{result_cache.moment_of(crawl)}:{report.slug}"
