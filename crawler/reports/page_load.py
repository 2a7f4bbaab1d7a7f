"""How one page loaded in a browser: as JSON values, and as text for its web page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from crawler.core.pages.outcomes import Tone
from crawler.core.pages.page_fields import FieldTable, fields_from, label
from crawler.core.pages.page_load import BLOCKED, FAILED, THRESHOLDS, Rating, Resource, rating
from crawler.models import Page, PageLoad
from crawler.reports import text

TONES = {Rating.GOOD: Tone.GOOD, Rating.NEEDS_IMPROVEMENT: Tone.WARNING, Rating.POOR: Tone.ERROR}
UNKNOWN = "not known"


def load_of(page: Page) -> dict[str, Any] | None:
    """The numbers by the names of their fields, `console` (the first errors) and `requests` (the first, those that
    failed before the others); None if no browser rendered the page."""
    row = PageLoad.objects.filter(pk=page.pk).first()
    return values_of(row) if row is not None else None


def values_of(row: PageLoad) -> dict[str, Any]:
    numbers = {field.name: getattr(row, field.name) for field in fields_from(FieldTable.LOAD)}
    requests = msgspec.convert(row.requests, list[Resource])
    return {**numbers, "console": row.console, "requests": [msgspec.structs.asdict(request) for request in requests]}


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


def numbers(load: Mapping[str, Any]) -> list[tuple[str, str]]:
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
