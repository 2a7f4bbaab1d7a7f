"""What Chromium tells of a page's requests, errors and Web Vitals, and what is stored of it."""

from collections.abc import Iterator

import pytest

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
from crawler.capabilities.browser.result import Rendering, with_refusals
from tests.capabilities.browser.pages import Pages
from tests.http.server import Server, Then, page

DONE = "<p id=done>"
SCRIPT = {"content_type": "text/javascript"}


@pytest.fixture
def server() -> Iterator[Server]:
    site = {
        "/fine.js": page("1", **SCRIPT),
        "/gone.js": page("gone", "404 Not Found", **SCRIPT),
        "/reset.js": page("", then=Then.RESET, content_length="9", **SCRIPT),
        "/endless": page("x", then=Then.DRIP, content_length="", content_type="text/plain"),
    }
    with Server(site) as server:
        yield server


def told(rendering: Rendering) -> dict[str, tuple[int | None, str]]:
    """Path -> status and problem."""
    return {
        "/" + resource.url.split("/", 3)[3]: (resource.status, resource.problem) for resource in rendering.load.requests
    }


def test_what_failed_is_told_from_what_was_blocked(pages: Pages, server: Server) -> None:
    names = ("fine", "gone", "reset")
    scripts = "".join(f"<script src=/{name}.js></script>" for name in names)
    rendering = pages.render(server, f"{scripts}<img src=/dot.png>{DONE}", wait_for="#done", seconds=20.0)

    assert told(rendering) == {
        "/fine.js": (200, ""),
        "/gone.js": (404, FAILED),
        "/reset.js": (200, FAILED),
        "/dot.png": (None, BLOCKED),
    }
    load = rendering.load
    assert (load.resources, load.failed_requests, load.blocked_requests) == (3, 2, 1)
    fine = next(resource for resource in load.requests if resource.url.endswith("/fine.js"))
    assert fine.bytes is not None
    assert fine.bytes >= 1  # Chromium counts the head, too, where it does not know its size
    assert fine.ms is not None


@pytest.mark.long
def test_a_host_that_may_not_be_asked_is_blocked_and_one_that_does_not_answer_failed(
    pages: Pages, server: Server
) -> None:
    document = f"<script src=http://10.1.1.1/a.js></script><script src=http://127.0.0.1:1/b.js></script>{DONE}"
    rendering = pages.render(server, document, wait_for="#done", seconds=20.0)
    assert told(rendering) == {"/a.js": (None, BLOCKED), "/b.js": (None, FAILED)}


@pytest.mark.long
def test_what_was_under_way_or_cancelled_has_not_failed(pages: Pages, server: Server) -> None:
    script = "fetch('/endless'); const c = new AbortController(); fetch('/endless', {signal: c.signal}); c.abort()"
    rendering = pages.render(server, f"<script>{script}</script>{DONE}", wait_for="#done", seconds=20.0)
    assert rendering.load.failed_requests == 0


@pytest.mark.long
def test_all_errors_are_counted_and_the_first_are_told(pages: Pages, server: Server) -> None:
    script = "for (let i = 0; i < 80; i++) console.error('bad', i)"
    load = pages.render(server, f"<script>{script}</script>{DONE}", wait_for="#done", seconds=20.0).load
    assert (load.console_errors, len(load.console), load.console[0]) == (80, 50, "bad 0")


def test_only_what_got_no_response_from_a_refused_target_is_blocked() -> None:
    def at(url: str, status: int | None) -> Resource:
        return Resource(url, "script", status, problem=FAILED)

    given = Rendering(resources=(at("https://a/x", None), at("https://a/y", 404), at("http://a/z", None)))
    found = with_refusals(given, ["a:443: private address", "a:443: later", "[::1]:80: private address"]).resources
    assert [(resource.problem, resource.error) for resource in found] == [
        (BLOCKED, "private address"),
        (FAILED, ""),
        (FAILED, ""),
    ]


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
