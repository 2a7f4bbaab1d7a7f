"""What is stored of how a page loaded."""

from crawler.capabilities.browser.page_load import (
    BLOCKED,
    FAILED,
    MAX_LISTED,
    MAX_MESSAGE_LENGTH,
    MAX_MESSAGES,
    MAX_URL_LENGTH,
    Rating,
    Resource,
    page_load,
    rating,
)

LOADED = Resource("/a.js", "script", 200, 100, 5)
MISSING = Resource("/b.js", "script", 404, 10, 5, problem=FAILED)
UNKNOWN = Resource("/c.js", "script", error="not finished")
IMAGE = Resource("/d.png", "image", error="blocked: image", problem=BLOCKED)


def test_blocked_requests_are_neither_loaded_nor_failed() -> None:
    load = page_load([IMAGE, LOADED, MISSING, UNKNOWN], [], {}, console_errors=0, more_blocked=2)
    assert (load.resources, load.failed_requests, load.blocked_requests, load.resource_bytes) == (3, 1, 3, 110)


def test_what_failed_is_listed_first_and_what_was_blocked_last() -> None:
    load = page_load([IMAGE, LOADED, MISSING], [], {}, console_errors=0)
    assert load.requests == (MISSING, LOADED, IMAGE)


def test_what_is_not_known_is_not_zero() -> None:
    load = page_load([UNKNOWN], [], {}, console_errors=0)
    assert (load.lcp_ms, load.cls, load.resource_bytes) == (None, None, None)
    nothing = page_load([], [], {"lcp_ms": 70.6, "cls": 0.0}, console_errors=0)
    assert (nothing.lcp_ms, nothing.cls, nothing.resource_bytes) == (71, 0.0, 0)


def test_lists_are_bounded_and_numbers_are_not() -> None:
    long = Resource("/" + "x" * 2 * MAX_URL_LENGTH, "fetch", 200, 1)
    load = page_load(
        [long] * 2 * MAX_LISTED, ["e" * 2 * MAX_MESSAGE_LENGTH] * 2 * MAX_MESSAGES, {}, console_errors=7000
    )
    assert (load.resources, load.resource_bytes, load.console_errors) == (2 * MAX_LISTED, 2 * MAX_LISTED, 7000)
    assert (len(load.requests), len(load.requests[0].url)) == (MAX_LISTED, MAX_URL_LENGTH)
    assert (len(load.console), len(load.console[0])) == (MAX_MESSAGES, MAX_MESSAGE_LENGTH)


def test_vitals_are_rated_by_the_usual_thresholds() -> None:
    assert [rating("lcp_ms", ms) for ms in (2500, 2501, 4000, 4001)] == [
        Rating.GOOD,
        Rating.NEEDS_IMPROVEMENT,
        Rating.NEEDS_IMPROVEMENT,
        Rating.POOR,
    ]
    assert [rating("cls", shift) for shift in (0.1, 0.2, 0.25, 0.3)] == [
        Rating.GOOD,
        Rating.NEEDS_IMPROVEMENT,
        Rating.NEEDS_IMPROVEMENT,
        Rating.POOR,
    ]
