"""The lane of pages that a browser renders. What it needs is imported late: a manager renders nothing."""

from __future__ import annotations

from crawler import extras
from crawler.capabilities.browser import conf
from crawler.capabilities.browser.options import ALWAYS, NEVER, RenderOptions
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.lanes import SlotLane
from crawler.core.protocol.messages import PAGE


def _reason(options: CrawlOptions, kind: str, noted: str) -> str:
    return noted or (ALWAYS if RenderOptions.of(options).render == ALWAYS and kind == PAGE else "")


def _require() -> None:
    from crawler.capabilities.browser import chromium

    chromium.require_here()


def _warm_up() -> None:
    from crawler.capabilities.browser.renderer import warm_up

    warm_up()


def _should_recycle() -> bool:
    from crawler.capabilities.browser.renderer import Renderer

    return Renderer.pages >= conf.browser_pages()


def _end_processes() -> None:
    from crawler.capabilities.browser.renderer import end_browser

    end_browser()  # its processes would be left to the next program, which does not know them


RENDER = SlotLane(
    "render",
    "render",
    "browser",
    lambda options: RenderOptions.of(options).render != NEVER,
    help="render pages in Chromium, for crawls with the option --render; other workers manage and fetch",
    require=_require,
    warm_up=_warm_up,
    should_recycle=_should_recycle,
    end_processes=_end_processes,
    option="render",
    extra=extras.BROWSER,
    suffix="b",
    reason=_reason,
    slots=conf.browser_places,
    page_s=2.0,  # an application that fetches its data takes one to three on a machine with work to do
)

LANES = (RENDER,)
