"""The links of a crawl: source, target, anchor text, and the response of the target."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, Unpack

import msgspec

from crawler.core.html import link_codec
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL
from crawler.exports.csv import table
from crawler.exports.rows import CHUNK, NOT_INDEXED, ExportFilter, selected
from crawler.models import Crawl, Page, PageFacts, PageLinks

_OPEN, _HIDDEN = 0, -1
_CODES = {outcome: -2 - number for number, outcome in enumerate(Outcome)}
_OUTCOMES = {code: outcome for outcome, code in _CODES.items()}


class LinkTarget(NamedTuple):
    """A page of the crawl, or a link that leaves the site."""

    id: int
    answer: str  # HTTP status; else the outcome; "" = open
    is_external: bool
    is_hidden: bool  # it asks to be left out, and the crawl obeys


class Targets(msgspec.Struct, frozen=True):
    """All pages of a crawl by their short keys (`core.html.link_codec`), in sorted arrays: 18 bytes a page."""

    keys: array[int]
    ids: array[int]  # negative when it leaves the site
    codes: array[int]  # HTTP status, or one of the codes above

    def find(self, key: int) -> LinkTarget | None:
        """The page with this short key as a number; None = the crawl has no row of it."""
        at = bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            return None
        code, page = self.codes[at], self.ids[at]
        answer = str(code) if code > 0 else _OUTCOMES[code].value if code < _HIDDEN else ""
        return LinkTarget(abs(page), answer, page < 0, code == _HIDDEN)


def targets_of(crawl: Crawl) -> Targets:
    """Read in the order of the table's unique index."""
    found = Targets(array("Q"), array("q"), array("h"))
    pages = Page.objects.filter(crawl=crawl)
    hidden = set(pages.filter(NOT_INDEXED).values_list("id", flat=True)) if crawl.chosen.obey_noindex else set()
    facts = pages.order_by("key").values_list("key", "id", "kind", "http_status", "outcome")
    for key, page, kind, http_status, outcome in facts.iterator(chunk_size=CHUNK):
        found.keys.append(link_codec.number(bytes(key)))
        found.ids.append(-page if kind == EXTERNAL else page)
        found.codes.append(_HIDDEN if page in hidden else _code(http_status, outcome))
    return found


def _code(http_status: int | None, outcome: str) -> int:
    return http_status or (_CODES[Outcome(outcome)] if outcome else _OPEN)


PAGES_IN_MEMORY = 200  # pages whose links are in memory at a time: about a hundred links each

Finder = Callable[[int], LinkTarget | None]


class Edge(NamedTuple):
    """One link."""

    page: int
    source: str  # URL of the page that has the link
    target: str  # normalised URL
    text: str  # anchor text
    rel: str  # "nofollow ugc sponsored"
    leads_to: LinkTarget | None  # None = the crawl has no row of it
    problem: str = ""  # of a malformed link, whose target is as written


def edges(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[Edge]:
    """Every link of the selected pages, in the order of the pages, the malformed ones of each last. With `externals`
    only links to other sites. Links to a page left out because of noindex are left out, too."""
    only_externals = chosen.pop("externals", False)
    targets = targets_of(crawl)
    pages = selected(crawl, **chosen).values_list("id", "url").iterator(chunk_size=PAGES_IN_MEMORY)
    while urls := dict(islice(pages, PAGES_IN_MEMORY)):
        for edge in _of_pages(urls, targets.find):
            leads_to = edge.leads_to
            if leads_to and leads_to.is_hidden:
                continue
            if not only_externals or (leads_to and leads_to.is_external):
                yield edge


def _of_pages(urls: dict[int, str], find: Finder) -> Iterator[Edge]:
    rows = PageLinks.objects.filter(page_id__in=list(urls)).values_list("page_id", "keys", "packed")
    kept = {page: (keys, packed) for page, keys, packed in rows}
    facts = PageFacts.objects.filter(page_id__in=list(urls), malformed__isnull=False)
    malformed = {page: wrong["links"] for page, wrong in facts.values_list("page_id", "malformed") if wrong}
    for page in sorted({*kept, *malformed}):
        keys, packed = kept.get(page, (b"", b""))
        targets = [find(key) for key in link_codec.numbers(bytes(keys))]
        for place, link in link_codec.placed(bytes(packed), urls[page]):
            yield Edge(page, urls[page], link.url, link.text, link.rel, targets[place])
        for wrong in malformed.get(page, ()):
            yield Edge(page, urls[page], wrong["written"], wrong["text"], wrong["rel"], None, wrong["problem"])


NAMES = ("source", "target", "text", "rel", "status", "problem")
"""`status` is the HTTP status of the target, or its outcome ("robots", "external", ...); empty = not known. A malformed
link has its target as written, the status "malformed", and its `problem`."""
MALFORMED = "malformed"


def lines(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[str]:
    """The header and one record a link, each ending with CR LF; with `externals` only links to other sites."""
    found = edges(crawl, **chosen)
    return table(
        NAMES, ((edge.source, edge.target, edge.text, edge.rel, _status(edge), edge.problem) for edge in found)
    )


def _status(edge: Edge) -> str:
    if edge.problem:
        return MALFORMED
    return edge.leads_to.answer if edge.leads_to else ""
