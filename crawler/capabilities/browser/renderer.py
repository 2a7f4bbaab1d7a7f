"""Renders pages for a fetch job: the job's task waits, and answers what the page asks meanwhile."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, TypeVar

from crawler import conf
from crawler.capabilities.browser.chromium import BYPASS, BrowserMissing
from crawler.capabilities.browser.proxy import GuardProxy, ProxyLimits
from crawler.capabilities.browser.result import with_refusals
from crawler.capabilities.browser.rules import RenderChoices
from crawler.core.urls.normalise import host_in_browser
from crawler.extras import BROWSER
from crawler.http.connector import Gateway
from crawler.http.errors import RequestAborted
from crawler.http.event_loop import now, wait_for
from crawler.http.fetcher import FetchResult
from crawler.http.guard import Guard

if TYPE_CHECKING:
    from crawler.capabilities.browser.driver import Browser
    from crawler.capabilities.browser.result import Rendering
    from crawler.capabilities.browser.tab import TabSlot

T = TypeVar("T")

GRACE_S = 90.0  # beyond the page's own time: to start a browser, to end a page that hangs


class Renderer:
    """Renders one page at a time; not thread-safe. It uses the process's browser and proxy, unless others are given.

    Raises BrowserMissing."""

    pages = 0  # begun by this process so far

    def __init__(self, *, browser: Browser | None = None, proxy: GuardProxy | None = None) -> None:
        try:
            from crawler.capabilities.browser import driver, tab, types  # Playwright is optional, and slow to import
        except ImportError:
            raise BrowserMissing(BROWSER.missing) from None
        self._browser = browser or driver.shared()
        self._proxy = proxy or _shared_proxy()
        self._under_way: Future[Rendering] | None = None
        self._is_aborted = False
        self._crashed = types.BrowserCrashed
        self._types, self._tab = types, tab

    def render(
        self,
        url: str,
        fetched: FetchResult,
        choices: RenderChoices,
        *,
        site: Hashable = None,
        guard: Guard,
        gateway: Gateway | None = None,
        user_agent: str,
        headers_for: Callable[[str], Mapping[str, str]],
        may_request: Callable[[str], bool],
        take_turn: Callable[[], bool],
        ignore_tls_errors: bool = False,
    ) -> Rendering:
        """The page `url`, whose document was fetched, as a browser has it after its scripts.

        For each further request to the page's own host `may_request(url)` and then `take_turn()` are called
        in the calling task, where they may wait, at the cost of the page's time; if one is False it is not sent.
        `headers_for(url)` is called in another thread: the headers that a request gets in addition. `gateway`: the
        crawl's own proxy, through which all of them go. `site`: pages with the same one may share a
        browser context, one after the other; None = a context for this page alone. It names the crawl, the host and
        all that guard, gateway, limits and user agent depend on.

        Works in a task of an event loop and in a plain thread. Raises BrowserMissing and BrowserCrashed; however it
        ends, nothing of the page goes on.
        """
        Renderer.pages += 1
        questions = _Questions(lambda asked: may_request(asked) and take_turn())
        limits = ProxyLimits(max_bytes=choices.max_bytes, max_connections=64, connect_seconds=5.0, idle_seconds=10.0)
        own = _places_of(url)
        place = self._browser.kept.take(site) if site is not None else None
        if place is None:
            place = self._tab.TabSlot(self._proxy.admit(guard, limits, hosts_one_by_one=own, gateway=gateway))
        else:
            place.admission.begin()
        admission, refused = place.admission, place.admission.refused
        job = self._types.Job(
            url=url,
            fetched=fetched,
            choices=choices,
            user_agent=user_agent,
            proxy={
                "server": f"http://127.0.0.1:{self._proxy.port}",
                "username": admission.username,
                "password": admission.password,
                "bypass": BYPASS,
            },
            max_html_bytes=conf.max_body_bytes(),
            headers_for=headers_for,
            ask=questions.ask,
            limit_reached=lambda: admission.limit_reached,
            ignore_tls_errors=ignore_tls_errors,
        )
        rendering: Future[Rendering] = self._browser.run(
            lambda chromium: place.render(chromium, job, keeps=site is not None)
        )
        self._under_way = rendering
        try:
            if self._is_aborted:
                raise RequestAborted
            shown = questions.answer_until(rendering, choices.seconds + GRACE_S)
        except CancelledError:
            raise RequestAborted from None
        except TimeoutError:
            raise self._crashed("the browser did not respond") from None
        finally:
            rendering.cancel()  # nothing if it is done
            self._under_way = None
            self._leave(place, site)
        return with_refusals(shown, refused)

    def _leave(self, place: TabSlot, site: Hashable) -> None:
        """Nothing of the page goes on."""
        if place.tab is None:
            place.admission.close()
            return
        place.admission.pause()
        in_the_way = self._browser.kept.put(site, place)
        if in_the_way is not None and in_the_way.tab is not None:
            in_the_way.admission.close()
            self._browser.do(in_the_way.tab.close())

    def abort(self) -> None:
        """End the page under way, whose `render` raises RequestAborted, and begin no other; called by any thread."""
        self._is_aborted = True  # first: a page that begins meanwhile ends at once
        rendering = self._under_way
        if rendering is not None:
            rendering.cancel()


def _places_of(url: str) -> frozenset[str]:
    """The page's own "host:port", as the proxy knows it; both, if http and https are one host there."""
    host, port = host_in_browser(url)
    name = f"[{host}]" if ":" in host else host
    return frozenset(f"{name}:{each}" for each in ((80, 443) if port is None else (port,)))


class _Questions:
    """Lets the browser's thread ask, and the task that waits for the page answer."""

    def __init__(self, decide: Callable[[str], bool]) -> None:
        self._decide = decide
        self._asked: deque[tuple[str, Future[bool]]] = deque()
        self._arrival: Future[None] = Future()
        self._lock = threading.Lock()

    def ask(self, url: str) -> Future[bool]:
        answer = Future[bool]()
        with self._lock:
            self._asked.append((url, answer))
        self._ring()
        return answer

    def answer_until(self, done: Future[T], seconds: float) -> T:
        """The result of `done`. Raises TimeoutError."""
        done.add_done_callback(lambda _: self._ring())
        deadline = now() + seconds
        while True:
            with self._lock:
                arrival = self._arrival = Future()
                question = self._asked.popleft() if self._asked else None
            if done.done():
                return done.result()
            if question is None:
                wait_for(arrival, deadline - now())
                continue
            url, answer = question
            if answer.set_running_or_notify_cancel():  # else the page has ended, and needs no turn
                answer.set_result(self._decide(url))

    def _ring(self) -> None:
        with self._lock:
            if not self._arrival.done():
                self._arrival.set_result(None)


_proxies: dict[int, GuardProxy] = {}  # by process: a forked one needs its own
_sharing = threading.Lock()


def _shared_proxy() -> GuardProxy:
    with _sharing:
        if os.getpid() not in _proxies:
            _proxies[os.getpid()] = GuardProxy()
        return _proxies[os.getpid()]


def warm_up() -> None:
    """Start the browser of this process. Raises BrowserMissing with the reason if none starts here."""
    Renderer()  # Playwright is installed
    from crawler.capabilities.browser import driver  # as above

    async def nothing(_: object) -> None:
        pass

    driver.shared().run(nothing).result(GRACE_S)


def end_browser() -> None:
    """End the browser of this process, with all that belongs to it."""
    from crawler.capabilities.browser import driver  # as above

    driver.shared().close()
