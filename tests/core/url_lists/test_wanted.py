"""What a page that is added has of its own, and what it has of the call."""

from typing import Any

import pytest

from crawler.core.pages.placement import Placement
from crawler.core.url_lists.entries import Entry, Invalid
from crawler.core.url_lists.wanted import PageRequest, of_item, of_line

URL = "https://example.com/"
NOW = 1_800_000_000.0
ALL = Placement(priority=3, not_before=NOW + 60, ttl=600)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (URL, PageRequest(URL, ALL)),
        ({"url": URL}, PageRequest(URL, ALL)),
        ({"url": URL, "priority": 9}, PageRequest(URL, Placement(9, NOW + 60, 600))),
        ({"url": URL, "priority": "0.5", "ttl": "30m"}, PageRequest(URL, Placement(5, NOW + 60, 1800))),
        ({"url": URL, "not_before": NOW + 5}, PageRequest(URL, Placement(3, NOW + 5, 600))),
        ({"url": URL, "not_before": "2027-01-15T08:00:05Z"}, PageRequest(URL, Placement(3, NOW + 5, 600))),
        ({"url": URL, "not_before": NOW - 5}, PageRequest(URL, ALL)),  # a time that is past does not count
        ({"URL": URL, "Customer": 4711, "vip": True}, PageRequest(URL, ALL, {"Customer": 4711, "vip": True})),
    ],
)
def test_its_own_values_take_the_place_of_those_of_the_call(item: Any, expected: PageRequest) -> None:
    assert of_item(item, ALL, NOW) == expected


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"customer": "4711"}, "The object has no 'url'."),
        ({"url": URL, "priority": 11}, "'11' is not a valid priority"),
        ({"url": URL, "ttl": -1}, "'-1' is not a valid time to live"),
        ({"url": URL, "not_before": "soon"}, "'soon' is not a valid time"),
        ({"url": URL, "tags": ["a"]}, "The value of 'tags' must be text"),
        ({"url": URL, "text": "x" * 5000}, "Its additional values take 5,011 bytes"),
    ],
)
def test_what_no_list_may_say_is_refused_with_the_reason(item: Any, why: str) -> None:
    wanted = of_item(item, ALL, NOW)
    assert wanted.url == item.get("url", "")
    assert wanted.why.startswith(why)


def test_a_line_of_a_list_is_a_page_or_is_refused() -> None:
    entry = Entry(7, URL, priority=9, not_before=NOW - 1, meta={"customer": "4711"})
    assert of_line(entry, ALL, NOW) == PageRequest(URL, Placement(9, NOW + 60, 600), {"customer": "4711"})
    assert of_line(Invalid(8, "https://example.com/a,11", "No."), ALL, NOW).why == "No."
