"""Chromium's processes: begun at need, replaced, ended, and never left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crawler.capabilities.browser import driver
from crawler.capabilities.browser.driver import Browser
from crawler.capabilities.browser.proxy import GuardProxy
from crawler.capabilities.browser.rules import BrowserLimits
from crawler.capabilities.browser.types import BrowserCrashed
from tests.capabilities.browser.pages import Pages
from tests.capabilities.browser.processes import are_gone, below, command_of
from tests.http.server import Server, Then, page

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in Linux's /proc")

WAITS = "<p>begun<script>fetch('/endless')</script>"
READY = {"wait_for": "#done", "seconds": 20.0}
DONE = "<p id=done>"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"/endless": page("x", then=Then.DRIP, content_length="")}) as server:
        yield server


@contextmanager
def own_browser(proxy: GuardProxy, limits: BrowserLimits | None = None) -> Iterator[Pages]:
    browser = Browser(limits)
    try:
        yield Pages(browser, proxy)
    finally:
        browser.close()


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_crash_fails_the_pages_under_way_and_the_next_page_gets_a_new_browser(
    program: Path, proxy: GuardProxy, server: Server
) -> None:
    with own_browser(proxy) as pages, ThreadPoolExecutor() as threads:
        two = [threads.submit(pages.render, server, WAITS, seconds=60.0) for _ in range(2)]
        wait_for(lambda: len(server.requests) == 2)
        (pid,) = pages.browser.pids
        os.kill(pid, signal.SIGKILL)
        for waiting in two:
            with pytest.raises(BrowserCrashed, match="the browser crashed"):
                waiting.result(20)

        assert pages.render(server, DONE, **READY).error == ""
        assert pages.browser.pids != (pid,)
        assert pages.browser.starts == 2


@pytest.mark.long
def test_a_crash_of_playwright_is_a_crash_too(
    program: Path, proxy: GuardProxy, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "LIVENESS_INTERVAL_S", 1.0)
    monkeypatch.setattr(driver, "ANSWER_S", 3.0)
    others = below(os.getpid())  # the browser of another test
    with own_browser(proxy) as pages, ThreadPoolExecutor() as threads:
        waiting = threads.submit(pages.render, server, WAITS, seconds=60.0)
        wait_for(lambda: server.requests)
        processes = below(os.getpid()) - others
        os.kill(min(process for process in processes if b"run-driver" in command_of(process)), signal.SIGKILL)
        with pytest.raises(BrowserCrashed):
            waiting.result(30)
        assert are_gone(processes)
        assert pages.render(server, DONE, **READY).error == ""


@pytest.mark.long
def test_a_crash_of_one_page_spares_the_others(program: Path, proxy: GuardProxy, server: Server) -> None:
    with own_browser(proxy) as pages, ThreadPoolExecutor() as threads:
        other = threads.submit(pages.render, server, WAITS, seconds=10.0)
        wait_for(lambda: server.requests)
        before = below(os.getpid())
        crashing = threads.submit(pages.render, server, WAITS, seconds=60.0)
        wait_for(lambda: len(server.requests) == 2)
        new = {pid for pid in below(os.getpid()) - before if b"--type=renderer" in command_of(pid)}
        for pid in new:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(BrowserCrashed, match="the browser crashed on this page"):
            crashing.result(20)
        assert b"begun" in other.result(30).html


@pytest.mark.long
def test_a_browser_is_replaced_after_its_pages_and_lets_those_under_way_finish(
    program: Path, proxy: GuardProxy, server: Server
) -> None:
    with own_browser(proxy, BrowserLimits(pages=2)) as pages, ThreadPoolExecutor() as threads:
        slow = threads.submit(pages.render, server, WAITS, seconds=8.0)
        wait_for(lambda: server.requests)
        (first,) = pages.browser.pids
        for _ in range(2):
            assert pages.render(server, DONE, **READY).error == ""
        assert len(pages.browser.pids) == 2  # the first one still has its page
        assert b"begun" in slow.result(30).html
        wait_for(lambda: first not in pages.browser.pids)
        assert are_gone([first])
        assert pages.browser.starts == 2


def test_after_how_many_pages_and_with_how_much_memory_a_browser_is_replaced_are_settings(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CRAWLER_CHROMIUM_PAGES, settings.CRAWLER_CHROMIUM_MB = 3, 700
    monkeypatch.setattr(driver, "_shared", None)
    monkeypatch.setattr(driver, "Browser", lambda limits: limits)
    assert driver.shared() == BrowserLimits(pages=3, mb=700)


@pytest.mark.long
def test_a_browser_that_uses_too_much_memory_is_replaced(
    program: Path, proxy: GuardProxy, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MEASURE_S", 0.0)
    with own_browser(proxy, BrowserLimits(mb=1)) as pages:
        pages.render(server, DONE, **READY)
        wait_for(lambda: not pages.browser.pids)


@pytest.mark.long
def test_a_page_that_fills_the_memory_is_ended_alone(program: Path, proxy: GuardProxy, server: Server) -> None:
    fill = "const kept = []; setInterval(() => kept.push(new Uint8Array(2 ** 25).fill(1)), 20)"
    with own_browser(proxy, BrowserLimits(page_mb=400)) as pages:
        with pytest.raises(BrowserCrashed, match="the browser crashed on this page"):
            pages.render(server, f"<script>{fill}</script>", wait_for="#never", seconds=60.0)
        assert pages.render(server, DONE, **READY).error == ""
        assert pages.browser.starts == 1


@pytest.mark.long
def test_no_process_is_left_after_close(program: Path, proxy: GuardProxy, server: Server) -> None:
    before = below(os.getpid())
    with own_browser(proxy) as pages, ThreadPoolExecutor() as threads:
        waiting = threads.submit(pages.render, server, WAITS, seconds=60.0)
        wait_for(lambda: server.requests)
        begun = below(os.getpid()) - before
        pages.browser.close()
        assert isinstance(waiting.exception(20), BrowserCrashed)
    assert len(begun) > 3
    assert are_gone(begun, 5)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_no_process_is_left_when_the_process_is_killed(program: Path, server: Server, how: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-m", "tests.capabilities.browser.rendering_process", str(server.port)])
    try:
        wait_for(lambda: server.requests or process.poll() is not None, 60)
        begun = below(process.pid)
    finally:
        process.send_signal(how)
        process.wait(20)
    assert len(begun) > 3
    assert are_gone(begun)


def test_a_forked_process_has_a_browser_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = driver.shared()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert driver.shared() is not ours
    with pytest.raises(RuntimeError, match="forked"):
        ours.run(lambda chromium: pytest.fail("not called"))


def test_nothing_is_started_before_the_first_page() -> None:
    browser = Browser()
    assert (browser.starts, browser.pids, threading.active_count()) == (0, (), threading.active_count())
    browser.close()
