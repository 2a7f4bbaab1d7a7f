"""The pages whose content was kept in one form, and where it is."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, Unpack

from crawler.content.storage import Gone, Place, Reader
from crawler.core.errors import BadInput
from crawler.exports.selection import Chosen, of_site_alone, selected
from crawler.models import Crawl, PageFacts

log = logging.getLogger(__name__)

CHUNK = 1000  # pages in memory at a time


class Kept(NamedTuple):
    """One page's content."""

    page: int
    url: str
    member: bytes  # as it is in the storage: one gzip member or two


def check(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> None:
    """BadInput when the crawl keeps nothing of this form, or links to other sites were asked for."""
    of_site_alone("Kept content", **chosen)
    if form not in crawl.chosen.keep:
        raise BadInput(
            "format", f"This crawl kept no content as {form}; start one that does, with --keep {form} or on the form."
        )


def kept(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[Kept]:
    """The pages that were kept in this form, in the order of an export. What cannot be read any more is left out."""
    with Reader() as reader:
        for page, url, place in _places(form, crawl, **chosen):
            try:
                yield Kept(page, url, reader.read(place))
            except Gone as error:
                log.warning("crawl %s: the content of page %s is left out: %s", crawl.id, page, error)


def _places(form: str, crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[tuple[int, str, Place]]:
    pages = selected(crawl, **chosen).values_list("id", "url").iterator(chunk_size=CHUNK)
    while chunk := list(islice(pages, CHUNK)):
        found = PageFacts.objects.filter(page_id__in=[page for page, _ in chunk]).values_list("page_id", "kept")
        places = {page: places[form] for page, places in found if isinstance(places.get(form), list)}
        for page, url in chunk:
            if page in places:
                name, offset, length = places[page]
                yield page, url, (name, offset, length)
