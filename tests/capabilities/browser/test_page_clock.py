"""Pages whose half second of quiet passes in virtual time: what is found, and what goes by the wall's clock."""

import re
import time
from collections.abc import Iterator

import pytest

from crawler.capabilities.browser import page as tab_page
from crawler.capabilities.browser.result import Rendering
from tests.capabilities.browser.pages import Pages
from tests.http.server import Server, Then, page

ADD = "fetch('/api').then((r) => r.text()).then((t) => document.body.append(t))"
LATE = f"<body><script>setTimeout(() => {ADD}, 400)</script>"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"/api": page("from the API")}) as server:
        yield server


@pytest.fixture
def stream() -> Iterator[Server]:
    endless = {"then": Then.DRIP, "content_length": "", "content_type": "text/event-stream"}
    with Server({"/": page(":", access_control_allow_origin="*", **endless)}) as server:
        yield server


def test_the_time_without_a_request_is_not_waited_for(
    pages: Pages, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the place of the half second a minute, which this page has not by the wall's clock, however fast the machine
    is; by its own clock most of it has passed."""
    monkeypatch.setattr(tab_page, "QUIET_S", 60.0)
    tells = "document.body.append(`after ${Date.now() - began} ms;`)"
    document = f"<body><script>const began = Date.now(); setTimeout(() => {{ {tells}; {ADD} }}, 40_000)</script>"
    rendering = pages.render(server, document, virtual_time=True, seconds=50.0)
    assert (rendering.error, b"from the API" in rendering.html) == ("", True)
    told = re.search(rb"after (\d+) ms;", rendering.html)
    assert told
    assert int(told[1]) >= 40_000


@pytest.mark.long
def test_time_stands_still_while_a_request_is_under_way(pages: Pages, server: Server) -> None:
    gives_up = f"setTimeout(() => {{ {ADD}; setTimeout(() => document.body.append('gave up'), 250) }}, 200)"
    rendering = pages.render(
        server,
        f"<body><script>{gives_up}</script>",
        take_turn=lambda: time.sleep(0.6) is None,
        virtual_time=True,
        seconds=20.0,
    )
    assert rendering.html.partition(b"</script>")[2].startswith(b"from the APIgave up")


@pytest.mark.long
@pytest.mark.parametrize(
    "other",
    [
        "new Worker(URL.createObjectURL(new Blob(['setTimeout(() => postMessage(1), 300)']))).onmessage = () => {}",
        "document.body.append(document.createElement('iframe')); setTimeout(() => {}, 300)",
        "new EventSource('STREAM'); setTimeout(() => {}, 300)",
    ],
    ids=["worker", "frame", "stream"],
)
def test_where_another_clock_goes_the_half_second_is_waited_for(
    pages: Pages, server: Server, stream: Server, other: str
) -> None:
    other = other.replace("{}", ADD).replace("STREAM", stream.origin)
    rendering = pages.render(server, f"<body><script>{other}</script>", virtual_time=True, seconds=20.0)
    assert b"from the API" in rendering.html
    assert rendering.elapsed_ms >= 500


@pytest.mark.long
def test_the_next_page_of_a_tab_has_timers_and_the_time_of_day(pages: Pages, server: Server) -> None:
    document = f"{LATE}<script>document.body.append(`at ${{Date.now()}};`)</script>"
    for _ in range(3):
        rendering = pages.render(server, document, site="timed", virtual_time=True)
        assert (rendering.error, b"from the API" in rendering.html) == ("", True)
        assert abs(time.time() - shown_ms(rendering) / 1000) < 60


def shown_ms(rendering: Rendering) -> int:
    found = re.search(rb"at (\d+);", rendering.html)
    assert found
    return int(found[1])


@pytest.mark.long
def test_the_next_page_of_a_tab_may_wait_for_what_its_timers_add(pages: Pages, server: Server) -> None:
    adds = "<body><script>setTimeout(() => document.body.innerHTML = '<p id=done>', 700)</script>"
    for _ in range(2):
        rendering = pages.render(server, adds, site="added", virtual_time=True, wait_for="#done", seconds=20.0)
        pages.render(server, LATE, site="added", virtual_time=True)
        assert (rendering.error, b"done" in rendering.html) == ("", True)


def test_the_vitals_of_such_a_page_are_not_told(pages: Pages, server: Server) -> None:
    document = "<h1>Large</h1>"
    told = [bool(pages.render(server, document, virtual_time=virtual).vitals) for virtual in (False, True)]
    assert told == [True, False]
