"""What the rules of other crawlers do on the same made-up sites: by URL and distance from the start alone.

Heritrix: `profile-crawler-beans.cxml`, the defaults of PathologicalPathDecideRule (maxRepetitions 2),
TooManyPathSegmentsDecideRule (maxPathDepth 20) and TooManyHopsDecideRule (maxHops 20). Nutch:
`regex-urlfilter.txt.template`. Scrapy: DEPTH_LIMIT, which is unlimited by default, and URLLENGTH_LIMIT 2083.
Browsertrix Crawler: the scope "prefix" of a start URL at the root of its host.
"""

import re
from collections import deque
from collections.abc import Callable

from tests.capabilities.traps.crawl import HOST
from tests.capabilities.traps.sites import Site

MOST = 20_000  # requests, after which a crawl is taken for endless
MAX_URL = 8_000  # characters: servers refuse longer ones (RFC 9110, 4.1)
SCRAPY_DEPTH = 10

Rule = Callable[[str, int], bool]
"""Whether a URL, so many links from the start, is requested."""

_PATHOLOGICAL = re.compile(r".*?/(.*?/)\1{2,}.*")
_QUERIES = re.compile(r"[?*!@=]")
_LOOPS = re.compile(r".*(/.+?)/.*?\1/.*?\1/")


def heritrix(url: str, depth: int) -> bool:
    path = url.removeprefix(HOST).partition("?")[0]
    return depth <= 20 and not _PATHOLOGICAL.fullmatch(url) and path.count("/") <= 20


def nutch(url: str, depth: int) -> bool:
    return not (_QUERIES.search(url) or _LOOPS.match(url))


def scrapy(url: str, depth: int) -> bool:
    return depth <= SCRAPY_DEPTH and len(url) <= 2083


def browsertrix(url: str, depth: int) -> bool:
    return url.startswith(f"{HOST}/")


RULES: dict[str, Rule] = {
    "Heritrix": heritrix,
    "Nutch": nutch,
    f"Scrapy, `DEPTH_LIMIT` {SCRAPY_DEPTH}": scrapy,
    "Browsertrix": browsertrix,
}


def requested(site: Site, rule: Rule) -> set[str]:
    """The paths that such a crawler requests; MOST at most."""
    seen, waiting = {"/"}, deque([("/", 0)])
    while waiting and len(seen) < MOST:
        path, depth = waiting.popleft()
        for link in site(path).links:
            if link not in seen and len(link) <= MAX_URL and rule(HOST + link, depth + 1):
                seen.add(link)
                waiting.append((link, depth + 1))
    return seen
