"""What is known of one page (`reports.page_detail`) in words: the same on its own view and on the terminal. What is not
known says so, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from crawler.core.crawl.messages import EXTERNAL, PAGE, SITEMAP
from crawler.core.crawl.outcomes import Kind, Outcome
from crawler.reports import text
from crawler.reports.page_table import value_words

Known = list[tuple[str, str]]
"""Names and what is known, in the order to be read."""

KINDS = {PAGE: "a page of the site", SITEMAP: "a sitemap", EXTERNAL: "a link to another site"}
LEADS_BY = {"link": "links to", "redirect": "redirects to", "sitemap": "names"}
UNKNOWN = "not known"


def answer(page: Mapping[str, Any]) -> str:
    """What came of a page in a list: its status code, or its outcome in words, or that nothing is known of it."""
    if page["http_status"]:
        return str(page["http_status"])
    if page["page"] is None:
        return "not in this crawl"
    return text.outcome(page["outcome"] or "")


def answered(report: Mapping[str, Any]) -> Known:
    """The response and how long it took."""
    none = "no response" if report["outcome"] else "no response yet"
    has_answer = report["http_status"] is not None
    return [
        ("Outcome", outcome(report)),
        ("Status", str(report["http_status"]) if has_answer else none),
        ("Content type", report["content_type"] or ("not stated by the server" if has_answer else none)),
        ("Size", text.size(report["bytes"]) if has_answer else none),
        ("Time to first byte", _milliseconds(report["first_byte_ms"], report)),
        ("Total time", _milliseconds(report["elapsed_ms"], report)),
        ("Attempts", attempts(report)),
    ]


def outcome(report: Mapping[str, Any]) -> str:
    """ "no connection: connection refused"."""
    return ": ".join(filter(None, [text.outcome(report["outcome"] or ""), report["error"]]))


def attempts(report: Mapping[str, Any]) -> str:
    """How often the page was requested, and how many workers crashed on it."""
    if report["reused"]:
        return "0: the response was taken from the cache"
    number = text.count(report["attempts"])
    return f"{number}; {text.counted(report['deaths'], 'worker')} crashed on it" if report["deaths"] else number


def found(report: Mapping[str, Any]) -> Known:
    """What it is and how it was found."""
    known = [
        ("Type", KINDS[report["kind"]]),
        ("Depth", f"{text.counted(report['depth'], 'link')} from a start URL"),
        ("Rel of the first link", report["rel"] or "none"),
        *_of_sitemaps(report["sitemap"]),
    ]
    if report["trap"]:
        known.append(("Trap", f"{report['trap']['reason']}: {report['trap']['pattern']}"))
    return known


def _of_sitemaps(sitemap: Mapping[str, Any]) -> Known:
    if sitemap["listed"] is None:
        return [("In a sitemap", f"{UNKNOWN}: this crawl looked at none")]
    if not sitemap["listed"]:
        return [("In a sitemap", "in none that was read")]
    linked = "yes" if sitemap["linked"] else "no: a sitemap alone leads here"
    return [
        ("In a sitemap", "yes"),
        ("Last modified, by the sitemap", sitemap["lastmod"] or UNKNOWN),
        ("Linked from a page", linked),
    ]


def said(report: Mapping[str, Any]) -> Known:
    """The metadata of the page."""
    directives = report["directives"]
    to_crawlers = UNKNOWN if directives is None else directives or "nothing: it may be indexed, its links followed"
    page = report["said"]
    if page is None:
        return [("Directives", to_crawlers)]
    return [
        ("Title", page["title"] or "none"),
        ("Description", page["description"] or "none"),
        ("Heading (h1)", _heading(page)),
        ("Canonical address", _canonical(page, report["url"])),
        ("Directives", to_crawlers),
        ("Words", "not counted" if page["words"] is None else text.count(page["words"])),
    ]


def unread(report: Mapping[str, Any]) -> str:
    """Why no metadata is known; "" when it is."""
    if report["said"] is not None:
        return ""
    if report["outcome"] is None:
        return "The page has not been requested yet."
    if report["http_status"] is None:
        return "There was no response to read."
    if report["headers"] is None:
        return "This crawl kept no metadata: it is older than that, or the response was taken from the cache."
    if report["kind"] == SITEMAP or Outcome(report["outcome"]) in (Outcome.SUCCESS, Outcome.UNCHANGED):
        return "It is no HTML page, so there is nothing to read of this."
    return "Only successful responses are read."


def fields(report: Mapping[str, Any]) -> Known:
    """What the extraction rules took from it, and why something is missing."""
    return [(name, _noted(value_words(value), report["notes"].get(name))) for name, value in report["fields"].items()]


def _noted(value: str, note: str | None) -> str:
    return f"{value} ({note})" if note else value


def kept(report: Mapping[str, Any]) -> Known:
    """In which forms its content is kept, or why not."""
    return [(form, place if isinstance(place, str) else "kept") for form, place in report["kept"].items()]


def tone(page: Mapping[str, Any]) -> str:
    """good, calm, warn or bad, of a page in a list."""
    if not page["outcome"]:
        return "calm"
    closed = Outcome(page["outcome"])
    match closed:
        case Outcome.SUCCESS | Outcome.UNCHANGED:
            return "good"
        case Outcome.CLIENT_ERROR:
            return "warn"
        case Outcome.SERVER_ERROR:
            return "bad"
        case _:
            return "bad" if closed.kind is Kind.FAILED else "calm"


def fetched(report: Mapping[str, Any]) -> str:
    """ "2026-11-21 20:15:00 UTC"."""
    at = report["fetched_at"]
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M:%S} UTC" if at else "never"


def _milliseconds(number: int | None, report: Mapping[str, Any]) -> str:
    if number is not None:
        return f"{number:,} ms"
    return "not requested: the response was taken from the cache" if report["reused"] else UNKNOWN


def _heading(page: Mapping[str, Any]) -> str:
    number = page["h1_count"]
    if number is None:
        return page["h1"] or UNKNOWN
    more = f" (the first of {text.count(number)})" if number > 1 else ""
    return f"{page['h1'] or ('none' if number == 0 else 'without words')}{more}"


def _canonical(page: Mapping[str, Any], url: str) -> str:
    if not page["canonicals"]:
        return "none"
    stated = page["canonical"] or "one that cannot be requested"
    own = " (this page)" if stated == url else ""
    more = f" (the first of {text.count(page['canonicals'])})" if page["canonicals"] > 1 else ""
    return f"{stated}{own}{more}"
