"""Leaves of calendars are told from articles, ids and page numbers."""

from urllib.parse import parse_qsl

import pytest

from crawler.core.pages.traps import leaf_of, names_of_dates

LEAVES = [
    ("/2031/05", 2031),
    ("/2031/05/", 2031),
    ("/2031/05/17/", 2031),
    ("/calendar/2031/5", 2031),
    ("/calendar/2031/12", 2031),
    ("/calendar/5/2031", 2031),
    ("/calendar/2031", 2031),
    ("/rooms/7/calendar/20310517/", 2031),
    ("/events/2031-05", 2031),
    ("/events/2031-05-17/day", 2031),
    ("/?date=2031-05-17", 2031),
    ("/?anything=2031-05-17", 2031),
    ("/?week=2031-W05", 2031),
    ("/?month=203105", 2031),
    ("/?start=20310517", 2031),
    ("/?day=2031-05-17T10:00", 2031),
    ("/?year=2031&month=5", 2031),
    ("/?m=5&y=2031", 2031),
    ("/?ts=1936000000", 2031),
    ("/?ts=1936000000000", 2031),
]


@pytest.mark.parametrize(("address", "year"), LEAVES)
def test_these_are_leaves(address: str, year: int) -> None:
    assert year_of(address) == year


NO_LEAVES = [
    "/",
    "/2031/05/17/title",  # an article
    "/2031-05-17-title",
    "/thread/2031/2",  # the second page of a discussion
    "/thread/2031/12",
    "/item/2031",
    "/events/2031",  # one of the events
    "/events/203105",
    "/archive/2031",
    "/2031/13",
    "/calendar/2031/13",
    "/part/4711-03",
    "/?page=2031",
    "/?id=20310517",
    "/?start=203110",  # the goods from there on
    "/?from=2031",
    "/?x=3&y=2031",  # a place on a map
    "/?start=soon",
    "/?date=",
    "/?ts=17",
]


@pytest.mark.parametrize("address", NO_LEAVES)
def test_these_are_none(address: str) -> None:
    assert year_of(address) is None


def test_the_folder_before_the_date_is_told() -> None:
    leaf = leaf_of("/rooms/7/calendar/2031/05/", {})
    assert leaf is not None
    assert leaf.before == "/rooms/7/calendar"


def test_names_under_which_dates_are_told() -> None:
    assert names_of_dates({"year", "colour", "m"}) == {"year", "m"}


def year_of(address: str) -> int | None:
    path, _, query = address.partition("?")
    leaf = leaf_of(path, dict(parse_qsl(query, keep_blank_values=True)))
    return leaf.year if leaf else None
