"""Where one can go from a page: the parts of a crawl, and what belongs to one's own account. A place whose address does
not exist in this installation is not shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse

OF_A_CRAWL = (
    ("crawl-detail", "Overview"),
    ("crawl-pages", "Pages"),
    ("crawl-reports", "Reports"),
    ("crawl-graph", "Graph"),
    ("crawl-compare", "Compare"),
    ("crawl-exports", "Exports"),
)
"""The parts of a crawl: name of the address, what it is called."""

OF_ALL = (("crawl-list", "Crawls"), ("schedule-list", "Schedules"))

OF_AN_ACCOUNT = (
    ("account", "Account"),
    ("token-list", "Tokens"),
    ("channel-list", "Notifications"),
)


@dataclass(frozen=True)
class Place:
    """Somewhere to go."""

    name: str
    address: str
    is_here: bool  # the page that is shown lies there
    is_this: bool = False  # it is that page


def parts_of(crawl_id: object, path: str) -> list[Place]:
    """The parts of a crawl. Of two that hold the page shown, the nearer one is where it lies: a page of a report is
    in the reports, and not in the overview."""
    return _nearest(_addresses(OF_A_CRAWL, crawl_id), path)


def places(path: str) -> list[Place]:
    """What the head of every page leads to; the page of a crawl lies among the crawls."""
    return [
        Place(name, address, path == address or path.startswith("/crawls/" if address == "/" else address))
        for name, address in _addresses(OF_ALL)
    ]


def account_places(path: str) -> list[Place]:
    """What belongs to the account of whoever is logged in."""
    return _nearest(_addresses(OF_AN_ACCOUNT), path)


def _nearest(found: list[tuple[str, str]], path: str) -> list[Place]:
    holding = [address for _, address in found if path == address or path.startswith(_below(address))]
    here = max(holding, key=len, default="")
    return [Place(name, address, address == here, path == address) for name, address in found]


def _addresses(named: tuple[tuple[str, str], ...], *arguments: Any) -> list[tuple[str, str]]:
    found = ((text, _address(name, arguments)) for name, text in named)
    return [(text, address) for text, address in found if address]


def _address(name: str, arguments: tuple[Any, ...]) -> str:
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""


def _below(address: str) -> str:
    return address if address.endswith("/") else f"{address}/"
