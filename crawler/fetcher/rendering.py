"""Renders a fetched page in a browser, with the manners of its crawl: robots.txt and the host's turn hold for every
further request to the page's own host."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING

import msgspec

from crawler import conf, encryption
from crawler.capabilities.browser.renderer import Renderer
from crawler.core.options.of_capabilities import WARC
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.rendering import PICTURES, UNREAD_KINDS, UNSEEN_KINDS, RenderChoices
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.core.urls.normalise import normalise
from crawler.fetcher.host_slot import HostSlot
from crawler.fetcher.robots_check import RobotsChecker, RobotsDecision
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import NOTHING, FetchResult, is_html
from crawler.http.request import RequestHeaders

if TYPE_CHECKING:
    from crawler.capabilities.browser.result import Rendering

OWN_HEADERS = frozenset({"accept", "accept-encoding", "user-agent"})
"""Headers that the browser chooses itself."""


class PageRenderer:
    """Renders the pages of one slice; what they load goes through the proxy that `fetcher` uses for their host."""

    def __init__(
        self,
        policy: FetchPolicy,
        fetcher: HttpFetcher,
        slot: HostSlot,
        robots: RobotsChecker | None,
        note_sent: Callable[[], None],
        site: Hashable,
    ) -> None:
        """`site` names the crawl, the host and the policy."""
        self._policy, self._slot, self._robots, self._note_sent = policy, slot, robots, note_sent
        self._fetcher = fetcher
        self._site = site if conf.shares_browser_context() else None
        credentials = encryption.opened(policy.sealed)
        self._headers = RequestHeaders(policy.user_agent, credentials, policy.own_hosts)
        self._renderer = Renderer()
        pictures = tuple(form for form in PICTURES if form in policy.keep)
        self._choices = RenderChoices(
            wait_for=", ".join(policy.wait_for),
            seconds=policy.render_seconds,
            scroll=policy.scroll,
            blocked_hosts=policy.blocked_hosts,
            pictures=pictures,
            screenshot=policy.screenshot,
            screenshot_format=policy.screenshot_format,
            blocked_kinds=UNSEEN_KINDS if pictures or WARC in policy.keep else UNREAD_KINDS,
            virtual_time=conf.uses_virtual_time(),
            max_bytes=conf.render_bytes(),
            records=WARC in policy.keep,
        )

    def render(self, task: PageTask, fetched: FetchResult) -> tuple[FetchResult, Rendering | None]:
        """The page as the browser shows it, in UTF-8; a redirect if its scripts went to another page. None if there is
        nothing to render: it is no HTML, or no success. Raises BrowserCrashed and Aborted."""
        is_page = fetched.outcome is Outcome.SUCCESS and bool(fetched.body) and is_html(fetched.content_type)
        if not is_page:
            return fetched, None
        gateway = self._fetcher.gateway_for(task.url)
        rendering = self._renderer.render(
            task.url,
            fetched,
            self._choices,
            site=(self._site, gateway) if self._site is not None else None,
            guard=self._fetcher.guard,
            gateway=gateway,
            user_agent=self._policy.user_agent,
            headers_for=self._headers_for,
            may_request=self._may_request,
            take_turn=self._take_turn,
            ignore_tls_errors=self._policy.ignore_tls_errors,
        )
        if rendering.redirect_to and normalise(rendering.redirect_to, task.url) != task.url:
            moved = msgspec.structs.replace(
                fetched, outcome=Outcome.REDIRECT, location=rendering.redirect_to, body=b"", share=None
            )
            return moved, rendering
        if not rendering.html:  # it could not be read: the page is as it was sent, and the error says why
            return fetched, rendering
        shown = msgspec.structs.replace(
            fetched, body=rendering.html, content_type_header="text/html; charset=utf-8", share=None
        )
        return shown, rendering

    def abort(self) -> None:
        """End the page under way; called by any thread."""
        self._renderer.abort()

    def _headers_for(self, url: str) -> Mapping[str, str]:
        """Credentials and the cookies of a log-in, where they belong."""
        address = normalise(url)
        if address is None:
            return {}
        self._headers.cookies = self._fetcher.cookies
        headers = self._headers.headers(address, NOTHING, anonymous=False)
        return {name: value for name, value in headers.items() if name.lower() not in OWN_HEADERS}

    def _may_request(self, url: str) -> bool:
        """Whether robots.txt allows it; called for the page's own host. What is not known is not asked for. A WebSocket
        begins with an HTTP request (RFC 6455), to which the robots.txt of that origin applies."""
        address = normalise(url.replace("ws", "http", 1) if url.startswith("ws") else url)
        if self._robots is None or address is None:
            return address is not None
        ruling = self._robots.decide(address)
        return isinstance(ruling, RobotsDecision) and ruling.refusal(address) is None

    def _take_turn(self) -> bool:
        """Wait until the page's own host may be asked again."""
        if not self._slot.wait_for_grant():
            return False
        self._note_sent()
        return True


def shell_of(task: PageTask, fetched: FetchResult, fetched_at: float, requests_before: int, why: str) -> PageResult:
    """What is told of a page that a browser is to render."""
    return msgspec.structs.replace(_unread(task, fetched, fetched_at, requests_before), needs_browser=why)


def crashed(task: PageTask, fetched: FetchResult, fetched_at: float, requests_before: int, error: str) -> PageResult:
    """The result of a page whose browser crashed."""
    result = _unread(task, fetched, fetched_at, requests_before)
    return msgspec.structs.replace(result, outcome=Outcome.CRASHED, error=error, rendering=task.rendering)


def _unread(task: PageTask, fetched: FetchResult, fetched_at: float, requests_before: int) -> PageResult:
    """The result of a page that was received, without anything of its content."""
    return PageResult(
        id=task.id,
        attempt=task.attempt,
        outcome=fetched.outcome,
        bytes=fetched.bytes_read,
        requests=requests_before + fetched.requests,
        fetched_at=fetched_at,
    )
