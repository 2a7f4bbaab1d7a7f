"""Why a crawl ended, as a sentence: the limits that were reached, and the pages without a usable response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import LIMITED, Category
from crawler.core.protocol.completion import EndReason, Limit, without_answer
from crawler.core.protocol.counters import Tallies
from crawler.core.sitemaps.formats import MAX_STEPS
from crawler.core.text.quantities import counted, duration, size


def end_text(why: EndReason, tallies: Tallies, limits: Mapping[str, int], options: CrawlOptions) -> str:
    """Why a crawl ended, as a user reads it."""
    match why:
        case EndReason.COMPLETE:
            return "Complete: every page is done."
        case EndReason.COMPLETE_WITH_ERRORS:
            return f"Complete, but {_errors(tallies) or 'no page was fetched successfully.'}"
        case EndReason.CANCELLED:
            parts = [
                f"Cancelled: {_not_asked(tallies.in_category(Category.CANCELLED))}.",
                _limits_reached(limits, options),
            ]
        case EndReason.DEADLINE:
            others = {limit: number for limit, number in limits.items() if limit != Limit.DEADLINE}
            deadline = "" if options.deadline is None else f" of {duration(options.deadline)}"
            not_asked = _not_asked(limits[Limit.DEADLINE])
            parts = [f"The deadline{deadline} passed: {not_asked}.", _limits_reached(others, options)]
        case EndReason.LIMIT:
            unnamed = f"A limit was reached: {_not_asked(tallies.number_of(LIMITED))}."
            parts = [_limits_reached(limits, options) or unnamed]
        case _:
            assert_never(why)
    return " ".join(part for part in [*parts, _errors(tallies)] if part)


def _limits_reached(limits: Mapping[str, int], options: CrawlOptions) -> str:
    """ "Limit reached: 40 pages at most (417 pages were not requested)." """
    reached = [
        f"{_at_most(Limit(limit), options)} ({_not_asked(number)})" for limit, number in limits.items() if number
    ]
    if not reached:
        return ""
    return f"Limit{'s' if len(reached) > 1 else ''} reached: {', '.join(reached)}."


def _at_most(limit: Limit, options: CrawlOptions) -> str:
    match limit:
        case Limit.PAGES:
            return (
                "an earlier page limit"
                if options.max_pages is None
                else f"{counted(options.max_pages, 'page')} at most"
            )
        case Limit.BYTES:
            return f"{size(options.max_bytes or 0)} at most"
        case Limit.DEPTH:
            return f"{counted(options.max_depth or 0, 'link')} from the start at most"
        case Limit.SITEMAPS:
            return f"{counted(MAX_STEPS, 'sitemap')} in a row at most"
        case Limit.PAGE_TTL:
            own = "a time limit set for a page"
            return own if options.page_ttl is None else f"{duration(options.page_ttl)} for a page at most"
        case Limit.DEADLINE:
            return f"{duration(options.deadline or 0)} at most"
    assert_never(limit)


def _not_asked(number: int) -> str:
    if not number:
        return "no page was open"
    return f"{counted(number, 'page')} {'was' if number == 1 else 'were'} not requested"


def _errors(tallies: Tallies) -> str:
    number = without_answer(tallies)
    return f"{counted(number, 'page')} returned no usable response." if number else ""
