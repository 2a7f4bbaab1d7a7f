"""Which pages of a crawl link to one, with what words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from crawler.core import linkage
from crawler.models import Crawl, Page, PageLinks
from crawler.reports.link_index import pages_with

AT_ONCE = 500  # pages whose addresses are looked up together


class Inlink(NamedTuple):
    """A link to the page in question."""

    page: str  # URL of the page it stands on
    text: str  # the words it is written with
    rel: str  # "nofollow ugc sponsored"


def inlinks(crawl: Crawl, url: str, at_most: int | None = None) -> list[Inlink]:
    """The links to the page with this normalised URL, in the order in which their pages were discovered."""
    key = linkage.short_key(url)
    return list(islice(_found(crawl, key), at_most))


def _found(crawl: Crawl, key: bytes) -> Iterator[Inlink]:
    pages = pages_with(crawl, key)
    for at in range(0, len(pages), AT_ONCE):
        yield from (link for _, link in links_on(pages[at : at + AT_ONCE], key))


def links_on(pages: Sequence[int], key: bytes) -> Iterator[tuple[int, Inlink]]:
    """The links with this short key on these pages, AT_ONCE of them at most, each with its page."""
    urls = dict(Page.objects.filter(id__in=pages).values_list("id", "url"))
    rows = PageLinks.objects.filter(page_id__in=pages).order_by("page_id")
    for page, keys, packed in rows.values_list("page_id", "keys", "packed"):
        targets = frozenset(linkage.places(bytes(keys), key))
        for place, link in linkage.placed(bytes(packed), urls[page]):
            if place in targets:
                yield page, Inlink(urls[page], link.text, link.rel)
