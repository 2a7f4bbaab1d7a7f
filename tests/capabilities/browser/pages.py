"""Pages to render in a real Chromium, each from a document that is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crawler.capabilities.browser.driver import Browser
from crawler.capabilities.browser.proxy import GuardProxy
from crawler.capabilities.browser.renderer import Renderer
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.rules import RenderChoices
from crawler.core.pages.outcomes import Outcome
from crawler.http.fetcher import FetchResult
from crawler.http.guard import Guard
from tests.http.server import Server

HERE = Guard(("127.0.0.1", "localhost"))
AGENT = "TestCrawler/1.0"


@dataclass
class Pages:
    """Renders pages of a server, each from a document that is given."""

    browser: Browser
    proxy: GuardProxy

    def render(
        self,
        server: Server,
        document: str,
        *,
        url: str = "",
        headers: str = "",
        may_request: Callable[[str], bool] = lambda url: True,
        take_turn: Callable[[], bool] = lambda: True,
        headers_for: Callable[[str], Mapping[str, str]] = lambda url: {},
        site: str | None = None,
        ignore_tls_errors: bool = False,
        **choices: object,
    ) -> Rendering:
        """As the page "/" of the server, or as another page."""
        return self.visit(
            url or f"{server.origin}/",
            document,
            headers=headers,
            may_request=may_request,
            take_turn=take_turn,
            headers_for=headers_for,
            site=site,
            ignore_tls_errors=ignore_tls_errors,
            **choices,
        )

    def visit(
        self,
        url: str,
        document: str,
        *,
        headers: str = "",
        may_request: Callable[[str], bool] = lambda url: True,
        take_turn: Callable[[], bool] = lambda: True,
        headers_for: Callable[[str], Mapping[str, str]] = lambda url: {},
        site: str | None = None,
        ignore_tls_errors: bool = False,
        **choices: object,
    ) -> Rendering:
        return Renderer(browser=self.browser, proxy=self.proxy).render(
            url,
            fetched(document, headers),
            RenderChoices(**choices),  # type: ignore[arg-type]
            site=site,
            guard=HERE,
            user_agent=AGENT,
            headers_for=headers_for,
            may_request=may_request,
            take_turn=take_turn,
            ignore_tls_errors=ignore_tls_errors,
        )


def fetched(document: str, headers: str = "") -> FetchResult:
    return FetchResult(
        outcome=Outcome.SUCCESS,
        http_status=200,
        content_type="text/html",
        content_type_header="text/html; charset=utf-8",
        headers=headers,
        body=document.encode(),
    )
