"""The links of a crawl one after the other: from which page to which, in what words, and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, Unpack

from crawler.core import linkage
from crawler.exports.selection import Chosen, selected
from crawler.exports.targets import Target, targets_of
from crawler.models import Crawl, PageFacts, PageLinks

AT_ONCE = 200  # pages whose links are in memory at a time: some hundred links each

Finder = Callable[[int], Target | None]


class Edge(NamedTuple):
    """One link."""

    page: int
    source: str  # URL of the page it stands on
    target: str  # normalised URL
    text: str  # the words it is written with
    rel: str  # "nofollow ugc sponsored"
    leads_to: Target | None  # None: the crawl has no row of it, because it is none of its pages
    problem: str = ""  # why it leads nowhere; then its target is as it is written


def edges(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[Edge]:
    """Every link on the pages that were selected, in the order of their pages, the malformed ones of each last. With
    `externals` those alone that leave the site, whichever page they stand on; links to a page that asks to be left out
    are left out with it."""
    only_externals = chosen.pop("externals", False)
    targets = targets_of(crawl)
    pages = selected(crawl, **chosen).values_list("id", "url").iterator(chunk_size=AT_ONCE)
    while urls := dict(islice(pages, AT_ONCE)):
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
        targets = [find(key) for key in linkage.numbers(bytes(keys))]
        for place, link in linkage.placed(bytes(packed), urls[page]):
            yield Edge(page, urls[page], link.url, link.text, link.rel, targets[place])
        for wrong in malformed.get(page, ()):
            yield Edge(page, urls[page], wrong["written"], wrong["text"], wrong["rel"], None, wrong["problem"])
