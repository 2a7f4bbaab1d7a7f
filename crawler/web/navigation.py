"""Navigation links: main pages, pages of a crawl, pages of an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

CRAWL_PAGES = (
    ("crawl-detail", "Overview"),
    ("crawl-pages", "Pages"),
    ("crawl-reports", "Reports"),
    ("crawl-graph", "Graph"),
    ("crawl-compare", "Compare"),
    ("crawl-exports", "Exports"),
)
"""Route name, label."""
GALLERY = ("crawl-gallery", "Gallery")
"""Of a crawl that has screenshots."""

MAIN_PAGES = (("crawl-list", "Crawls"), ("schedule-list", "Schedules"), ("dead-letters", "Dead letters"))

ACCOUNT_PAGES = (("account", "Account"), ("token-list", "Tokens"), ("channel-list", "Notifications"))


@dataclass(frozen=True)
class NavigationLink:
    """A link of the navigation."""

    name: str
    address: str
    is_here: bool  # the current page is in this section
    is_this: bool = False  # it is the current page


def parts_of(crawl_id: object, path: str, *, has_gallery: bool = False) -> list[NavigationLink]:
    """The pages of a crawl. The longest matching address is current: a page of a report is in the reports, not in the
    overview. The gallery is shown if there is one, and when it is the current page."""
    is_gallery = path == reverse(GALLERY[0], args=[crawl_id])
    pages = (*CRAWL_PAGES, GALLERY) if has_gallery or is_gallery else CRAWL_PAGES
    return _nearest(_addresses(pages, crawl_id), path)


def places(path: str) -> list[NavigationLink]:
    """The links at the top of every page; pages of a crawl belong to the crawls."""
    below = {reverse("crawl-list"): reverse("crawl-create")}
    return [
        NavigationLink(name, address, path == address or path.startswith(below.get(address, address)))
        for name, address in _addresses(MAIN_PAGES)
    ]


def account_places(path: str) -> list[NavigationLink]:
    """The pages of the user's account."""
    return _nearest(_addresses(ACCOUNT_PAGES), path)


def _nearest(found: list[tuple[str, str]], path: str) -> list[NavigationLink]:
    holding = [address for _, address in found if path == address or path.startswith(_below(address))]
    here = max(holding, key=len, default="")
    return [NavigationLink(name, address, address == here, path == address) for name, address in found]


def _addresses(named: tuple[tuple[str, str], ...], *arguments: Any) -> list[tuple[str, str]]:
    return [(text, reverse(name, args=arguments)) for name, text in named]


def _below(address: str) -> str:
    return address if address.endswith("/") else f"{address}/"
