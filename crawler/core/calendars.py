"""Dates in URLs: which of them belong to the leaves of a calendar or an archive, rather than to an article."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

SECONDS_A_YEAR = 31_556_952  # of the Gregorian calendar, on average


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words below which even /2031/5 and /203105 are dates. Not "events" or "archive": their numbers are events' and files'.
_CALENDARS = _words("cal calendar calendario calendars calendrier jahr kalender year years")
_WORDS = _CALENDARS | _words("agenda date day mois monat month week woche")
_MONTHS_TOO = _words("cal cal_date caldate calendar date datum month")  # other names hold six digits for offsets
_DATE_NAMES = _MONTHS_TOO | _words(
    "d day dt from start start_date startdate time timestamp tribe-bar-date ts week",
)
_YEAR_NAMES = ("year", "yr", "jahr", "calyear", "cal_year")
_MONTH_NAMES = _words("m month mon monat calmonth cal_month")

_FORMS = (  # how the date at the end of a path is written, and the words one of which must stand before it
    (re.compile(r"/(?P<year>[12]\d{3})-(?:0[1-9]|1[0-2])(?:-\d\d)?$"), None),
    (re.compile(r"/(?P<year>[12]\d{3})/0[1-9](?:/(?:0?[1-9]|[12]\d|3[01]))?$"), None),
    (re.compile(r"/(?P<year>[12]\d{3})/(?:[1-9]|1[0-2])(?:/(?:0?[1-9]|[12]\d|3[01]))?$"), _WORDS),
    (re.compile(r"/(?:0?[1-9]|1[0-2])/(?P<year>[12]\d{3})$"), _WORDS),
    (re.compile(r"/(?P<year>[12]\d{3})(?:0[1-9]|1[0-2])(?:[0-3]\d)?$"), _WORDS),
    (re.compile(r"/(?P<year>[12]\d{3})$"), _CALENDARS),
)
_VIEW = re.compile(r"/(?:month|week|day|list|agenda|year)$")

_YEAR = re.compile(r"[12]\d{3}")
_ISO_VALUE = re.compile(r"(?P<year>[12]\d{3})-(?:W\d\d|0?[1-9]|1[0-2])(?:-\d\d?)?(?:[T+ %].*)?")
_WHOLE_DAY = re.compile(r"(?P<year>[12]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_MONTH_VALUE = re.compile(r"(?P<year>[12]\d{3})(?:0[1-9]|1[0-2])")
_DAY_VALUE = re.compile(r"(?P<year>[12]\d{3})(?:0[1-9]|1[0-2])[0-3]\d")
_EPOCH = re.compile(r"-?\d{9,10}(?:\d{3})?")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of a calendar."""

    year: int
    before: str  # the path before the date, without a slash at its end; the whole path when the date is in the query
    in_query: bool


def leaf_of(path: str, query: Mapping[str, str]) -> Leaf | None:
    """The leaf that this URL is; None for everything else, an article with a date before its title included.

    `query` maps names in lower case to values. What looks like a date must be sure to be one, because numbers are
    names of honest pages far more often: /thread/1731/2 is a page of a discussion.
    """
    year = _year_in(query) if query else None
    if year is not None:
        return Leaf(year, path.rstrip("/"), in_query=True)
    return _leaf_of_path(path)


def _leaf_of_path(path: str) -> Leaf | None:
    """The date must end the path (the name of a view may follow). /2031-05 and /2031/05 are dates anywhere, the other
    ways to write one only below a word such as "calendar"."""
    path = _VIEW.sub("", path.rstrip("/"))
    if not path[-1:].isdigit():
        return None
    for form, words in _FORMS:
        found = form.search(path)
        if found and (words is None or not words.isdisjoint(path[: found.start()].lower().split("/"))):
            return Leaf(int(found["year"]), path[: found.start()], in_query=False)
    return None


def _year_in(query: Mapping[str, str]) -> int | None:
    for name in (*_YEAR_NAMES, *(["y"] if not _MONTH_NAMES.isdisjoint(query) else [])):
        value = query.get(name, "")
        if _YEAR.fullmatch(value):
            return int(value)
    for name, value in query.items():
        if found := _WHOLE_DAY.fullmatch(value):
            return int(found["year"])
        if name in _DATE_NAMES:
            year = _year_of(name, value)
            if year is not None:
                return year
    return None


def _year_of(name: str, value: str) -> int | None:
    for form in (_ISO_VALUE, _DAY_VALUE, *([_MONTH_VALUE] if name in _MONTHS_TOO else [])):
        if found := form.fullmatch(value):
            return int(found["year"])
    if _EPOCH.fullmatch(value):
        seconds = int(value) if len(value.lstrip("-")) <= 10 else int(value) // 1000
        return 1970 + seconds // SECONDS_A_YEAR
    return None


def names_of_dates(names: Set[str]) -> Set[str]:
    """Those of these names, in lower case, under which dates are told."""
    return names & (_DATE_NAMES | _MONTH_NAMES | frozenset(_YEAR_NAMES) | {"y"})
