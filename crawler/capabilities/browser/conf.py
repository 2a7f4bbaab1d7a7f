"""Typed access to the settings of pages that a browser renders."""

from __future__ import annotations

from django.conf import settings


def chromium() -> str:
    """The program that renders pages; "" = the installed one."""
    return str(settings.CRAWLER_CHROMIUM)


def chromium_pages() -> int:
    """Pages after which a browser worker's Chromium is replaced."""
    return int(settings.CRAWLER_CHROMIUM_PAGES)


def chromium_mb() -> float:
    """Memory of all its processes together with which a browser worker's Chromium is replaced."""
    return float(settings.CRAWLER_CHROMIUM_MB)


def shares_browser_context() -> bool:
    """Whether the pages of a site share a browser context."""
    return bool(settings.CRAWLER_BROWSER_CONTEXT == "site")


def uses_virtual_time() -> bool:
    """Whether rendered pages get the half second of quiet in Chromium's virtual time."""
    return bool(settings.CRAWLER_BROWSER_CLOCK == "virtual")


def browser_pages() -> int:
    """Pages after which a browser worker restarts."""
    return int(settings.CRAWLER_BROWSER_PAGES)


def browser_places() -> int:
    """How many pages a browser worker renders at a time."""
    return int(settings.CRAWLER_BROWSER_PLACES)


def render_bytes() -> int:
    """Bytes that all responses to one page in the browser may have, without the page itself."""
    return int(settings.CRAWLER_RENDER_MB * 1024 * 1024)
