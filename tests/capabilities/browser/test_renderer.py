"""Rendering in the tasks of a fetch job: six pages at a time, and what ends them early."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress

import pytest
from playwright.async_api import Browser as Chromium

from crawler.capabilities.browser.driver import Browser
from crawler.capabilities.browser.renderer import _Questions
from crawler.capabilities.browser.result import Rendering
from crawler.http import event_loop
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import EventLoop
from tests.capabilities.browser.pages import Pages
from tests.http.server import Server, Then, page

PLACES = 6
WAITS = "<p>begun<script>fetch('/endless')</script>"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"/endless": page("x", then=Then.DRIP, content_length="")}) as server:
        yield server


def run(*works: Callable[[], None], until: Callable[[], object]) -> None:
    with EventLoop() as loop:
        for work in works:
            loop.spawn(work)
        deadline = time.monotonic() + 60
        while not until():
            assert time.monotonic() < deadline
            loop.run(0.1)


@pytest.mark.long
def test_six_pages_are_rendered_at_a_time_while_other_tasks_go_on(pages: Pages, server: Server) -> None:
    spans: list[tuple[float, float]] = []
    renderings: list[Rendering] = []
    steps: list[None] = []

    def render() -> None:
        began = time.monotonic()
        renderings.append(pages.render(server, WAITS, seconds=3.0))
        spans.append((began, time.monotonic()))

    def step() -> None:
        while len(spans) < PLACES:
            steps.append(None)
            event_loop.sleep(0.05)

    run(*[render] * PLACES, step, until=lambda: len(spans) == PLACES)
    assert max(began for began, _ in spans) < min(ended for _, ended in spans)
    assert [rendering.own_requests for rendering in renderings] == [1] * PLACES
    assert len(steps) > 10


@pytest.mark.long
def test_a_page_whose_task_is_aborted_is_closed(pages: Pages, server: Server, browser: Browser) -> None:
    def render() -> None:
        with suppress(RequestAborted):
            pages.render(server, WAITS, seconds=60.0)

    with EventLoop() as loop:
        loop.spawn(render)
        while not server.requests:
            loop.run(0.1)
        loop.throw(RequestAborted)

    async def contexts(chromium: Chromium) -> int:
        return len(chromium.contexts)

    deadline = time.monotonic() + 20
    while browser.run(contexts).result(20):
        assert time.monotonic() < deadline


@pytest.mark.long
def test_what_a_turn_raises_ends_the_page(pages: Pages, server: Server) -> None:
    def take_turn() -> bool:
        raise RequestAborted

    with pytest.raises(RequestAborted):
        pages.render(server, WAITS, take_turn=take_turn, seconds=60.0)
    assert server.requests == []


def test_no_turn_is_taken_for_a_request_that_has_been_given_up() -> None:
    asked: list[str] = []
    questions = _Questions(lambda url: asked.append(url) is None)
    done: Future[str] = Future()
    questions.ask("given up").cancel()
    wanted = questions.ask("wanted")
    wanted.add_done_callback(lambda _: done.set_result("rendered"))
    assert questions.answer_until(done, 5) == "rendered"
    assert (asked, wanted.result()) == (["wanted"], True)


def test_a_browser_that_does_not_answer_is_not_waited_for_without_end() -> None:
    with pytest.raises(TimeoutError):
        _Questions(lambda url: True).answer_until(Future[None](), 0.01)
