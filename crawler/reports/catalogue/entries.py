"""Which reports there are, in the order in which people see them."""

from __future__ import annotations

from crawler.core.errors import BadInput
from crawler.reports.catalogue import (
    canonicals,
    chains,
    duplicates,
    figures,
    hosts,
    indexing,
    insecure,
    linked,
    malformed,
    orphaned,
    texts,
    weight,
)
from crawler.reports.catalogue.report import Report

REPORTS: tuple[Report, ...] = (
    linked.BROKEN_LINKS,
    linked.EXTERNAL_BROKEN_LINKS,
    malformed.MALFORMED_LINKS,
    linked.REDIRECTS,
    chains.REDIRECT_CHAINS,
    chains.REDIRECT_LOOPS,
    orphaned.ORPHANS,
    texts.MISSING_TITLES,
    texts.DUPLICATE_TITLES,
    texts.MISSING_DESCRIPTIONS,
    texts.DUPLICATE_DESCRIPTIONS,
    texts.MISSING_H1,
    texts.SEVERAL_H1,
    texts.DUPLICATE_H1,
    duplicates.DUPLICATE_CONTENT,
    duplicates.NEAR_DUPLICATES,
    insecure.MIXED_CONTENT,
    indexing.NON_INDEXABLE,
    canonicals.CANONICAL_CONFLICTS,
    weight.SLOW_FIRST_BYTE,
    weight.SLOW_PAGES,
    weight.LARGE_PAGES,
    weight.DEEP_PAGES,
    figures.STATUSES,
    figures.DEPTHS,
    figures.CONTENT_TYPES,
    hosts.HOSTS,
)

BY_SLUG = {report.slug: report for report in REPORTS}


def report_named(slug: str) -> Report:
    """The report of this name; BadInput when there is none."""
    if slug not in BY_SLUG:
        raise BadInput("report", f"There is no report {slug!r}. There are: {', '.join(BY_SLUG)}.")
    return BY_SLUG[slug]
