"""How many there are of what each report tells, remembered for a while."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from django.db.models import Count

from crawler.models import Crawl
from crawler.reports import kept
from crawler.reports.catalogue.chosen import site_pages
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.catalogue.report import Report

KEPT = 24 * 3600  # seconds, of a crawl that is over
KEPT_WHILE_RUNNING = 30  # seconds
BUDGET = 0.5  # seconds after which no further report is counted for a page that somebody waits for

Numbers = dict[str, int]
"""Slug -> number. Reports that cannot be told of this crawl, or were not counted yet, are left out."""


def numbers_of(crawl: Crawl, budget: float | None = None, now: Callable[[], float] = monotonic) -> Numbers:
    """The number of each report that this crawl can tell. After `budget` seconds the rest is left for next time.

    Most reports count pages of the site that are of some sort: these are counted in one reading, the others each by a
    question of its own.
    """
    wanted = {_key(crawl, report): report for report in REPORTS if not report.lacking(crawl)}
    found: dict[str, int] = kept.numbers_about(crawl).get_many(wanted)
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
    known: int | None = kept.numbers_about(crawl).get(key)
    if known is None:
        known = report.count(crawl)
        _keep(crawl, {key: known})
    return known


def _count(crawl: Crawl, reports: dict[str, Report], found: dict[str, int]) -> None:
    """Count pages for all of these in one reading."""
    if not reports:
        return
    names = {report.slug.replace("-", "_"): key for key, report in reports.items()}
    counts = {name: Count("id", filter=reports[key].which) for name, key in names.items()}
    numbers = {names[name]: number for name, number in site_pages(crawl).aggregate(**counts).items()}
    found.update(numbers)
    _keep(crawl, numbers)


def _keep(crawl: Crawl, numbers: dict[str, int]) -> None:
    kept.numbers_about(crawl).set_many(numbers, KEPT if crawl.is_over else KEPT_WHILE_RUNNING)


def _key(crawl: Crawl, report: Report) -> str:
    return f"reports:{kept.moment_of(crawl)}:{report.slug}"
