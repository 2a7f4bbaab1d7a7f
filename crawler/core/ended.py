"""Why a crawl ended: complete or not, and which limits kept pages from being asked for."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import assert_never

from crawler.core.figures import counted, duration, size
from crawler.core.lifecycle import State
from crawler.core.options import CrawlOptions
from crawler.core.outcomes import Kind, Outcome
from crawler.core.retries import TRANSIENT_STATUSES
from crawler.core.sitemaps.followed import MAX_STEPS
from crawler.core.tallies import Tallies


class Ended(StrEnum):
    """Why a crawl ended. Where several are true, the first of CANCELLED, DEADLINE, LIMIT is said."""

    COMPLETE = "complete"  # every page that may be asked for was, and all of them answered
    COMPLETE_WITH_ERRORS = "complete_with_errors"  # the same, and some gave no usable answer
    LIMIT = "limit"  # pages were not asked for because of a limit other than the deadline
    DEADLINE = "deadline"  # pages were not asked for because the time for the crawl was over
    CANCELLED = "cancelled"  # a user ended it, or pages were never asked for because a user had


class Limit(StrEnum):
    """What closes pages with the outcome `limit` or `expired`."""

    PAGES = "pages"  # max_pages
    BYTES = "bytes"  # max_bytes
    DEPTH = "depth"  # max_depth
    SITEMAPS = "sitemaps"  # a sitemap behind more than MAX_STEPS others
    PAGE_TTL = "page_ttl"  # the time for one page
    DEADLINE = "deadline"  # the time for the crawl


_WELL = (Outcome.SUCCESS, Outcome.REDIRECT, Outcome.UNCHANGED)


def limit_of_time(options: CrawlOptions, round_began_at: float, now: float) -> Limit:
    """Which limit it is that pages expire by at `now` (epoch seconds, as `round_began_at`)."""
    if options.page_ttl is None:
        return Limit.DEADLINE
    if options.deadline is None or now < round_began_at + options.deadline:
        return Limit.PAGE_TTL
    return Limit.DEADLINE


def ended(state: State, tallies: Tallies, limits: Mapping[str, int]) -> Ended | None:
    """Why a crawl in this state ended; None while it is not over. `limits`: Limit -> pages it closed.

    Pages that robots.txt or a trap kept out do not make a crawl incomplete.
    """
    if not state.is_over:
        return None
    if state is State.CANCELLED or tallies.of_kind(Kind.CANCELLED):
        return Ended.CANCELLED
    if limits.get(Limit.DEADLINE, 0) > 0:
        return Ended.DEADLINE
    if _cut_off(tallies):
        return Ended.LIMIT
    if without_answer(tallies) or not any(tallies.outcomes.get(outcome, 0) for outcome in _WELL):
        return Ended.COMPLETE_WITH_ERRORS
    return Ended.COMPLETE


def without_answer(tallies: Tallies) -> int:
    """Pages that were asked for and gave no usable answer: they failed, or another try might give a better one
    (5xx, 408, 425, 429). A 404 is an answer."""
    refused = sum(number for status, number in tallies.statuses.items() if int(status) in TRANSIENT_STATUSES)
    return tallies.of_kind(Kind.FAILED) + refused


def sentence(why: Ended, tallies: Tallies, limits: Mapping[str, int], options: CrawlOptions) -> str:
    """The same for people."""
    match why:
        case Ended.COMPLETE:
            return "Complete: every page has its outcome."
        case Ended.COMPLETE_WITH_ERRORS:
            return f"Complete, but {_errors(tallies) or 'no page was fetched successfully.'}"
        case Ended.CANCELLED:
            parts = [f"Cancelled: {_not_asked(tallies.of_kind(Kind.CANCELLED))}.", _limits_told(limits, options)]
        case Ended.DEADLINE:
            others = {limit: number for limit, number in limits.items() if limit != Limit.DEADLINE}
            deadline = "" if options.deadline is None else f" of {duration(options.deadline)}"
            not_asked = _not_asked(limits[Limit.DEADLINE])
            parts = [f"The deadline{deadline} passed: {not_asked}.", _limits_told(others, options)]
        case Ended.LIMIT:
            unnamed = f"A limit was reached: {_not_asked(_cut_off(tallies))}."
            parts = [_limits_told(limits, options) or unnamed]
        case _:
            assert_never(why)
    return " ".join(part for part in [*parts, _errors(tallies)] if part)


def _cut_off(tallies: Tallies) -> int:
    return tallies.outcomes.get(Outcome.LIMIT, 0) + tallies.outcomes.get(Outcome.EXPIRED, 0)


def _limits_told(limits: Mapping[str, int], options: CrawlOptions) -> str:
    """ "Limit reached: 40 pages at most (417 pages were not asked for)." """
    told = [f"{_at_most(Limit(limit), options)} ({_not_asked(number)})" for limit, number in limits.items() if number]
    if not told:
        return ""
    return f"Limit{'s' if len(told) > 1 else ''} reached: {', '.join(told)}."


def _at_most(limit: Limit, options: CrawlOptions) -> str:
    match limit:
        case Limit.PAGES:
            return f"{counted(options.max_pages or 0, 'page')} at most"
        case Limit.BYTES:
            return f"{size(options.max_bytes or 0)} at most"
        case Limit.DEPTH:
            return f"{counted(options.max_depth or 0, 'link')} from the start at most"
        case Limit.SITEMAPS:
            return f"{counted(MAX_STEPS, 'sitemap')} in a row at most"
        case Limit.PAGE_TTL:
            return f"{duration(options.page_ttl or 0)} for a page at most"
        case Limit.DEADLINE:
            return f"{duration(options.deadline or 0)} at most"
    assert_never(limit)


def _not_asked(number: int) -> str:
    if not number:
        return "no page was open"
    return f"{counted(number, 'page')} {'was' if number == 1 else 'were'} not asked for"


def _errors(tallies: Tallies) -> str:
    number = without_answer(tallies)
    return f"{counted(number, 'page')} gave no usable answer." if number else ""
