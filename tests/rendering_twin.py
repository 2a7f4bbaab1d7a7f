"""A browser for tests of the protocol: it knows what each page shows, and no Chromium runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from crawler.capabilities.browser import page_steps
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.rules import RenderChoices
from crawler.core.pages.outcomes import Outcome
from crawler.http.errors import FetchError
from crawler.http.fetcher import FetchResult

Shown = str | Rendering | Exception | Callable[[], str | Rendering | Exception]


class Crashed(FetchError):
    """As Chromium's own, for which Playwright would have to be installed."""

    outcome = Outcome.CRASHED


class Browser:
    """Shows `pages`, by path; others as they were sent."""

    def __init__(self, pages: Mapping[str, Shown]) -> None:
        self.pages = dict(pages)
        self.rendered: list[str] = []  # paths, in order
        self.choices: list[RenderChoices] = []  # of each
        self.sites: list[object] = []  # of each, if its pages share a browser context
        self.requests: list[str] = []  # further ones that each page would send to its own host
        self.allowed: dict[str, bool] = {}  # of these

    def __call__(self) -> Browser:
        return self

    def abort(self) -> None:
        """Nothing is under way for long."""

    def render(self, url: str, fetched: FetchResult, choices: RenderChoices, **more: Any) -> Rendering:
        path = "/" + url.split("/", 3)[3]
        self.rendered.append(path)
        self.choices.append(choices)
        self.sites.append(more.get("site"))
        self.allowed |= {wanted: more["may_request"](wanted) for wanted in self.requests}
        shown = self.pages.get(path, fetched.body.decode())
        if callable(shown):
            shown = shown()
        if isinstance(shown, Exception):
            raise shown
        return Rendering(html=shown.encode()) if isinstance(shown, str) else shown

    def installed(self, monkeypatch: pytest.MonkeyPatch) -> Browser:
        """In place of Chromium, in this process."""
        monkeypatch.setattr(page_steps, "Renderer", self)
        return self
