"""Renders a fetched page in a browser, with the manners of its crawl: robots.txt and the host's turn hold for every
further request to the page's own host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import msgspec

from crawler import encryption
from crawler.capabilities.browser import conf, shells
from crawler.capabilities.browser.options import AUTO, NEVER, RenderOptions, RenderPolicy
from crawler.capabilities.browser.renderer import Renderer
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.result_fields import LOAD, NEEDS_SCRIPTS
from crawler.capabilities.browser.rules import UNREAD_KINDS, UNSEEN_KINDS, RenderChoices
from crawler.core.html.document import document_of
from crawler.core.pages.content_formats import PICTURES, WARC
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.added_links import with_links
from crawler.core.protocol.messages import SITEMAP, PageResult, PageTask
from crawler.core.urls.normalise import normalise
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit
from crawler.fetcher.robots_check import RobotsDecision
from crawler.http.errors import FetchError
from crawler.http.fetcher import NOTHING, FetchResult, is_html
from crawler.http.request import RequestHeaders

OWN_HEADERS = frozenset({"accept", "accept-encoding", "user-agent"})
"""Headers that the browser chooses itself."""


class RenderStep(PageStep):
    """Renders the pages of one slice; what they load goes through the proxy that its fetcher uses for their host."""

    stage = Stage.SHOW

    def __init__(self, context: SliceContext) -> None:
        policy, chosen = context.policy, RenderPolicy.of(context.policy)
        self._policy, self._slot, self._robots = policy, context.slot, context.robots
        self._fetcher, self._note_sent = context.fetcher, context.note_sent
        self._site = context.key if conf.shares_browser_context() else None
        credentials = encryption.opened(policy.sealed)
        self._headers = RequestHeaders(policy.user_agent, credentials, policy.own_hosts)
        self._renderer = Renderer()
        self._rendering: Rendering | None = None  # of the page under way
        pictures = tuple(form for form in PICTURES if form in policy.keep)
        self._choices = RenderChoices(
            wait_for=", ".join(chosen.wait_for),
            seconds=chosen.render_seconds,
            scroll=chosen.scroll,
            blocked_hosts=chosen.blocked_hosts,
            pictures=pictures,
            screenshot=policy.screenshot,
            screenshot_format=policy.screenshot_format,
            blocked_kinds=UNSEEN_KINDS if pictures or WARC in policy.keep else UNREAD_KINDS,
            virtual_time=conf.uses_virtual_time(),
            max_bytes=conf.render_bytes(),
            records=WARC in policy.keep,
        )

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        return cls(context) if context.batch.needs_slot else None

    def received(self, visit: Visit) -> PageResult | None:
        """The page becomes what the browser shows, in UTF-8; a redirect if its scripts went to another page. It stays
        what it is if there is nothing to render: it is no HTML, or no success. Raises RequestAborted."""
        fetched = visit.shown
        if visit.task.kind == SITEMAP or fetched is None or not _is_page(fetched):
            return None
        try:
            self._rendering = self._render(visit.task, fetched)
        except FetchError as error:  # the browser crashed
            crashed = {"outcome": Outcome.CRASHED, "error": str(error), "lane_reason": visit.task.lane_reason}
            return msgspec.structs.replace(visit.unread(), **crashed)
        visit.shown = _shown(self._rendering, fetched, visit.task.url)
        visit.exchanges, visit.pictures = self._rendering.recorded, self._rendering.pictures
        return None

    def finish(self, visit: Visit) -> None:
        rendering, self._rendering, result = self._rendering, None, visit.result
        if rendering is None or result is None:
            return
        if visit.document is not None:
            result = with_links(result, visit.task.url, rendering.links)
        visit.result = msgspec.structs.replace(
            result,
            requests=result.requests + rendering.own_requests,
            error=result.error or rendering.error,
            lane_reason=visit.task.lane_reason,
            **LOAD.given(rendering.load),
        )

    def _render(self, task: PageTask, fetched: FetchResult) -> Rendering:
        """Raises BrowserCrashed and RequestAborted."""
        gateway = self._fetcher.gateway_for(task.url)
        return self._renderer.render(
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


def _is_page(fetched: FetchResult) -> bool:
    return fetched.outcome is Outcome.SUCCESS and bool(fetched.body) and is_html(fetched.content_type)


def _shown(rendering: Rendering, fetched: FetchResult, url: str) -> FetchResult:
    """What the response became."""
    if rendering.redirect_to and normalise(rendering.redirect_to, url) != url:
        return msgspec.structs.replace(
            fetched, outcome=Outcome.REDIRECT, location=rendering.redirect_to, body=b"", share=None
        )
    if not rendering.html:  # it could not be read: the page is as it was sent, and the error says why
        return fetched
    return msgspec.structs.replace(
        fetched, body=rendering.html, content_type_header="text/html; charset=utf-8", share=None
    )


class ShellStep(PageStep):
    """Names pages whose content a script would bring, so that a browser renders them."""

    stage = Stage.READ

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        return cls() if RenderOptions.of(context.policy).render == AUTO and not context.batch.needs_slot else None

    def parsed(self, visit: Visit) -> PageResult | None:
        why = shells.reason(visit.document) if visit.document is not None else ""
        return msgspec.structs.replace(visit.unread(), needs_lane=why) if why else None


class NoteShellStep(PageStep):
    """Notes pages that need their scripts, in a crawl that renders none: it gives a hint then."""

    stage = Stage.READ
    reads_document = False

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        return cls() if RenderOptions.of(context.policy).render == NEVER else None

    def finish(self, visit: Visit) -> None:
        """A tree that is there has lost its scripts by now, so the few pages that say little are parsed once more."""
        result, document, html = visit.result, visit.document, visit.html
        if result is None or html is None or len(result.links) > shells.FEW_LINKS:
            return
        if document is not None and not shells.says_little(document):
            return
        if why := shells.reason(document_of(html)):
            visit.result = msgspec.structs.replace(result, **NEEDS_SCRIPTS.given(why))


PAGE_STEPS = (RenderStep, ShellStep, NoteShellStep)
