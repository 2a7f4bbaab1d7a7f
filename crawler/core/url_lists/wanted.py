"""The pages that a user or a program adds to a crawl, with values of their own by the rules of the lines of a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from crawler.core.pages.placement import Placement
from crawler.core.url_lists.entries import Entry, Invalid
from crawler.core.url_lists.json_lines import row_of_object
from crawler.core.url_lists.reader import ColumnChoice
from crawler.core.url_lists.values import BadValue, Values, values_of

_NO_COLUMNS = ColumnChoice()


class PageRequest(NamedTuple):
    """A page to add."""

    url: str  # as it was given
    place: Placement
    meta: Mapping[str, Any] | None = None  # carried to its results; None = nothing
    why: str = ""  # why it cannot be used, as a sentence; "" = it can


def of_line(line: Entry | Invalid, place: Placement, now: float) -> PageRequest:
    """The page of a line; what it does not say is that of `place`."""
    if isinstance(line, Invalid):
        return PageRequest(line.text, place, why=line.why)
    return PageRequest(line.url, _own(place, Values(*line[2:]), now), line.meta)


def of_item(item: str | Mapping[str, Any], place: Placement, now: float) -> PageRequest:
    """The page of a URL, or of an object with the names that a JSONL list has: `url`, `priority`, `ttl`, `not_before`,
    and others, which are carried to its results. `now` in epoch seconds."""
    if isinstance(item, str):
        return PageRequest(item, place)
    try:
        row = row_of_object(item, _NO_COLUMNS)
        values = values_of(row.priority, row.ttl, row.not_before, row.meta)
    except BadValue as error:
        return PageRequest(str(item.get("url", "")), place, why=str(error))
    return PageRequest(row.url, _own(place, values, now), values.meta)


def _own(place: Placement, values: Values, now: float) -> Placement:
    """A page's own values replace the values for all pages; a time in the past does not count."""
    at = values.not_before if values.not_before is not None and values.not_before > now else None
    return Placement(
        place.priority if values.priority is None else values.priority,
        place.not_before if at is None else at,
        place.ttl if values.ttl is None else values.ttl,
    )
