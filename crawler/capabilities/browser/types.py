"""What the modules about a page in a browser hand to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from playwright.async_api import ProxySettings

from crawler.capabilities.browser.rules import RenderChoices
from crawler.core.pages.outcomes import Outcome
from crawler.http.errors import FetchError
from crawler.http.fetcher import FetchResult


class BrowserCrashed(FetchError):
    """The browser, or its process of this page, ended while it had the page. Another attempt may succeed."""

    outcome = Outcome.CRASHED


@dataclass(frozen=True, kw_only=True)
class Job:
    """What one rendering needs. `ask` is called in the browser's thread; its future says whether a further URL of the
    page's own host may be requested now."""

    url: str
    fetched: FetchResult
    choices: RenderChoices
    user_agent: str
    proxy: ProxySettings
    max_html_bytes: int
    headers_for: Callable[[str], Mapping[str, str]]
    ask: Callable[[str], Future[bool]]
    limit_reached: Callable[[], str]
    ignore_tls_errors: bool = False  # of whatever it loads
