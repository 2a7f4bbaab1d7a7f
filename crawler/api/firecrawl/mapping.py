"""What the words of Firecrawl's API mean here: its options of a crawl as ours, and our states as its own.

Field names and their meaning are those of Firecrawl's documentation of `POST /v1/crawl` and `/v2/crawl`; docs/api.md
lists what differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from crawler.core.crawl.completion import State
from crawler.core.urls.normalise import from_person, host_of, site_of

LIMIT = 10_000  # pages, where nothing is said
ANYWHERE = "[^?#]*"  # some of a path
BEHIND = r"(?:[?#].*)?$"  # all that can stand behind a path
_PARTS = re.compile(r"\\.|.", re.DOTALL)  # a character, with the backslash before it


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A crawl in Firecrawl's words; what was not said is as Firecrawl has it."""

    url: str
    limit: int = LIMIT
    max_depth: int | None = None  # links in a row (Firecrawl's maxDiscoveryDepth; its maxDepth counts parts of a path)
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    on_full_url: bool = False
    entire_domain: bool = False  # crawlEntireDomain, formerly allowBackwardLinks
    subdomains: bool = False
    skip_sitemap: bool = False
    ignore_query: bool = False
    delay: float = 0.0  # seconds
    concurrency: int | None = None


def options_of(asked: Asked) -> dict[str, Any]:
    """The same as names and values of `CrawlOptions`. BadInput when the URL is none."""
    site = site_of(host_of(from_person(asked.url)))
    options: dict[str, Any] = {
        "max_pages": asked.limit,
        "max_depth": asked.max_depth,
        "include": _patterns(asked.include_paths, asked, site),
        "exclude": _patterns(asked.exclude_paths, asked, site),
        "subdomains": asked.subdomains,
        "sitemaps": not asked.skip_sitemap,
        "path_prefixes": () if asked.entire_domain else _below(asked.url),
        "externals": "ignore",
        "delay": asked.delay,
    }
    if asked.ignore_query:
        options["drop_parameters"] = ("*",)
    if asked.concurrency is not None:
        options["concurrency"] = asked.concurrency
    return options


def _patterns(patterns: tuple[str, ...], asked: Asked, site: str) -> tuple[str, ...]:
    return patterns if asked.on_full_url else tuple(of_path(pattern, site) for pattern in patterns)


def of_path(pattern: str, site: str) -> str:
    """A pattern that is looked for in a URL's path, as one that is looked for in the whole URL.

    1. The URL begins with the site, or a host below it: so nothing is found in the name of a host.
    2. An alternative that begins with "^" begins where the path does; any other may stand anywhere in it.
    3. One that ends with "$" ends where the path does.
    """
    alternatives = "|".join(_in_path(alternative) for alternative in _alternatives(pattern))
    return rf"^https?://(?:[^/?#]+\.)?{re.escape(site)}(?:{alternatives})"


def _in_path(alternative: str) -> str:
    begin = "" if alternative.startswith("^") else ANYWHERE
    inner = alternative.removeprefix("^")
    if inner.endswith("$") and not inner.endswith(r"\$"):
        return f"{begin}{inner.removesuffix('$')}{BEHIND}"
    return begin + inner


def _alternatives(pattern: str) -> list[str]:
    """What stands between the bars of a pattern that are in no group."""
    found: list[list[str]] = [[]]
    depth, bracket = 0, False
    for part in _PARTS.findall(pattern):
        bracket = part == "[" or (bracket and part != "]")
        depth += 0 if bracket else {"(": 1, ")": -1}.get(part, 0)
        if part == "|" and depth == 0 and not bracket:
            found.append([])
        else:
            found[-1].append(part)
    return ["".join(parts) for parts in found]


def status_of(state: State) -> str:
    """Firecrawl knows three of our states apart: "scraping", "completed", "cancelled"."""
    match state:
        case State.FINISHED:
            return "completed"
        case State.CANCELLED:
            return "cancelled"
        case _:
            return "scraping"


def _below(url: str) -> tuple[str, ...]:
    """The path that children of this URL begin with; nothing for a whole host."""
    path = urlsplit(from_person(url)).path
    folder = path[: path.rfind("/") + 1]
    return (folder,) if folder not in {"", "/"} else ()
