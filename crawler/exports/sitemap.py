"""The pages of a crawl that belong into an index, as a sitemap (https://www.sitemaps.org/protocol.html)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Unpack

from django.db.models import Exists, OuterRef, Q, QuerySet

from crawler.core.errors import BadInput
from crawler.core.outcomes import Outcome
from crawler.core.work import PAGE
from crawler.exports.selection import NOT_INDEXED, Chosen, of_site_alone, selected
from crawler.exports.text import in_xml
from crawler.models import Crawl, Page, PageFacts

MOST_URLS = 50_000
MOST_BYTES = 50 * 1024 * 1024
"""Of one sitemap, by the protocol."""

HTML = ("text/html", "application/xhtml+xml")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
TAIL = "</urlset>\n"
CHUNK = 1000  # pages in memory at a time

_W3C = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?)?)?")  # www.w3.org/TR/NOTE-datetime


def check(crawl: Crawl, **chosen: Unpack[Chosen]) -> None:
    """BadInput when one sitemap cannot hold the pages."""
    of_site_alone("A sitemap", **chosen)
    if _is_too_much(crawl, **chosen):
        raise BadInput(
            "format",
            f"One sitemap holds {MOST_URLS:,} URLs and 50 MB, and this crawl has more to list; "
            "take sitemap.zip, which holds several of them and their index.",
        )


def lines(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[str]:
    """The sitemap, one line a page."""
    yield HEAD
    yield from entries(crawl, **chosen)
    yield TAIL


def entries(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[str]:
    """An element for each page; `lastmod` as far as the crawl knows it from a sitemap and it is a date."""
    for url, lastmod in indexable(crawl, **chosen).values_list("url", "lastmod").iterator(chunk_size=CHUNK):
        when = f"<lastmod>{lastmod}</lastmod>" if _W3C.fullmatch(lastmod) else ""
        yield f"<url><loc>{in_xml(url)}</loc>{when}</url>\n"


def indexable(crawl: Crawl, **chosen: Unpack[Chosen]) -> QuerySet[Page]:
    """HTML pages of the site that answered 2xx (or 304, as before) and neither ask to be left out of an index nor name
    another page as the one that counts."""
    answered = Q(outcome=Outcome.SUCCESS) | Q(outcome=Outcome.UNCHANGED)
    html = selected(crawl, **chosen).filter(answered, kind=PAGE, content_type__in=HTML).exclude(NOT_INDEXED)
    elsewhere = PageFacts.objects.filter(page_id=OuterRef("pk")).exclude(canonical__in=("", OuterRef("url")))
    return html.exclude(Exists(elsewhere))


def _is_too_much(crawl: Crawl, **chosen: Unpack[Chosen]) -> bool:
    if indexable(crawl, **chosen).order_by().count() > MOST_URLS:
        return True
    return sum(len(line.encode()) for line in lines(crawl, **chosen)) > MOST_BYTES
