"""How one page loaded in a browser: as JSON values, and as text for its web page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninja import Schema
from pydantic import Field

from crawler.capabilities.browser.page_load import BLOCKED, FAILED, THRESHOLDS, Rating, rating
from crawler.capabilities.browser.page_tables import LOADS
from crawler.capabilities.browser.shells import why_rendered
from crawler.core.pages.outcomes import Tone
from crawler.core.pages.page_fields import label
from crawler.core.urls.normalise import href_of
from crawler.models import Crawl, Page, PageFacts
from crawler.reports import text
from crawler.reports.page_parts import Known, PagePart, PartSchema, Report

TONES = {Rating.GOOD: Tone.GOOD, Rating.NEEDS_IMPROVEMENT: Tone.WARNING, Rating.POOR: Tone.ERROR}
UNKNOWN = "not known"


class Resource(Schema):
    """A request of a page in a browser."""

    url: str = Field(description="Its first 500 characters.")
    kind: str = Field(description="`script`, `stylesheet`, `image`, `font`, `xhr`, `fetch` ...")
    status: int | None = Field(description="The HTTP status; null without a response.")
    bytes: int | None = Field(description="As transferred; null when not known.")
    ms: int | None = Field(description="Milliseconds until its body was complete; null when not known.")
    error: str = Field(description="The error, or why it was not sent.")
    problem: str = Field(description="`failed`, `blocked` when the crawler did not send it, or empty.")


SCHEMA = PartSchema(
    LOADS,
    "Load",
    "How a page loaded in a browser; null if it was not rendered.",
    {
        "console": (list[str], Field(description="The first 50 errors on its console.")),
        "requests": (
            list[Resource],
            Field(description="The first 300 of its requests, those that failed before others."),
        ),
    },
    {
        "console": [],
        "requests": [
            {
                "url": "https://example.com/app.js",
                "kind": "script",
                "status": 200,
                "bytes": 84_220,
                "ms": 31,
                "error": "",
                "problem": "",
            }
        ],
    },
)


def _values(page: Page, facts: PageFacts | None) -> dict[str, Any]:
    """Why a browser rendered it, and how it loaded; None if none did."""
    return {"rendering": page.lane_reason or None, "load": LOADS.values_of(page.pk)}


# The same as text.


def vitals(load: Mapping[str, Any]) -> Iterator[tuple[str, str, Tone]]:
    """Name, value with its rating, and tone."""
    for name, (good, _) in THRESHOLDS.items():
        value = load[name]
        if value is None:
            yield label(name), UNKNOWN, Tone.NEUTRAL
            continue
        rated = rating(name, value)
        yield label(name), f"{_vital(name, value)}: {rated} (good: up to {_vital(name, good)})", TONES[rated]


def _vital(name: str, value: float) -> str:
    return f"{value:,} ms" if name.endswith("_ms") else f"{value:.3g}"


def numbers(load: Mapping[str, Any]) -> Known:
    size = load["resource_bytes"]
    counted = ("console_errors", "resources", "failed_requests", "blocked_requests")
    return [
        *((label(name), text.count(load[name])) for name in counted),
        (label("resource_bytes"), UNKNOWN if size is None else text.size(size)),
    ]


def answer(request: Mapping[str, Any]) -> str:
    """What became of a request: "404", "failed", "blocked", or a dash for one without a response so far."""
    if request["status"] is not None:
        return str(request["status"])
    return str(request["problem"] or text.DASH)


def tone(request: Mapping[str, Any]) -> Tone:
    if request["problem"] == FAILED:
        return Tone.ERROR
    return Tone.GOOD if request["status"] is not None else Tone.NEUTRAL


def of_problem(load: Mapping[str, Any], problem: str) -> list[dict[str, Any]]:
    return [request for request in load["requests"] if request["problem"] == problem]


def left_out(load: Mapping[str, Any]) -> str:
    """How many errors and requests are not listed; "" if none."""
    errors = load["console_errors"] - len(load["console"])
    requests = load["resources"] + load["blocked_requests"] - len(load["requests"])
    parts = [text.counted(number, noun) for number, noun in ((errors, "error"), (requests, "request")) if number > 0]
    return f"{' and '.join(parts)} more, which were not stored one by one." if parts else ""


def lines(load: Mapping[str, Any]) -> Iterator[str]:
    """The errors, and the requests that failed or were blocked, for the terminal."""
    yield from load["console"]
    for request in (*of_problem(load, FAILED), *of_problem(load, BLOCKED)):
        yield "  ".join(filter(None, [answer(request), request["kind"], request["url"], request["error"]]))


def _known(report: Report) -> Known:
    load, why = report["load"], report["rendering"]
    if load is None:
        return []
    because = [(label("rendering"), why_rendered(why))] if why else []
    return [*because, *((name, told) for name, told, _ in vitals(load)), *numbers(load)]


def _details(report: Report) -> Iterator[str]:
    if report["load"]:
        yield from lines(report["load"])


def _context(crawl: Crawl, page: Page, report: Report) -> dict[str, Any]:
    load, why = report["load"], report["rendering"]
    return {
        "vitals": [*vitals(load)],
        "numbers": [*([(label("rendering"), why_rendered(why))] if why else []), *numbers(load)],
        "console": load["console"],
        "left_out": left_out(load),
        "requests": [
            {
                **request,
                "answer": answer(request),
                "tone": tone(request),
                "href": href_of(request["url"]),
                "size": "" if request["bytes"] is None else text.size(request["bytes"]),
                "time": "" if request["ms"] is None else f"{request['ms']:,} ms",
            }
            for request in load["requests"]
        ],
    }


def _absent(crawl: Crawl, page: Page, report: Report) -> str:
    if not page.lane_reason or not page.outcome:
        return ""
    return (
        f"It was to be rendered because {why_rendered(page.lane_reason)}. It has no data: the browser did not "
        "get to the page, or this crawl is older than that."
    )


PAGE_PARTS = (
    PagePart(
        name="browser",
        title="In the browser",
        values=_values,
        lines=_known,
        details=_details,
        template="browser/page_load.html",
        context=_context,
        absent=_absent,
        schema=SCHEMA,
    ),
)
