"""Conditions and queries of pages for reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import F, Q, QuerySet

from crawler.core.html.page_metadata import NOINDEX
from crawler.core.pages.outcomes import SUCCESSES
from crawler.core.urls.normalise import key_of
from crawler.http.fetcher import HTML
from crawler.models import Crawl, Page
from crawler.reports import text
from crawler.storage.bulk import chunks
from crawler.storage.queries import site_pages

IS_HTML = Q(outcome__in=SUCCESSES, content_type__in=sorted(HTML))
HAS_FACTS = Q(facts__insecure__isnull=False)  # not `words`, which is NULL when not counted
IS_NOINDEX = Q(directives=NOINDEX) | Q(directives__startswith=f"{NOINDEX} ")  # it comes first in a record
IS_CANONICAL_ELSEWHERE = Q(facts__canonical__gt="") & ~Q(facts__canonical=F("url"))


def html_pages(crawl: Crawl) -> QuerySet[Page]:
    """HTML pages of the site with a successful response."""
    return site_pages(crawl).filter(IS_HTML)


def answer(outcome: str, http_status: int | None) -> str:
    """ "404", or without a response the outcome in words."""
    return str(http_status) if http_status else text.outcome(outcome)


class ReferredPage(NamedTuple):
    """The fields of a page that another page refers to."""

    id: int
    url: str
    outcome: str
    http_status: int | None
    directives: str
    error: str

    @property
    def answer(self) -> str:
        return answer(self.outcome, self.http_status)


def seen_at(crawl: Crawl, urls: Iterable[str]) -> dict[str, ReferredPage]:
    """URL -> page, of the normalised URLs that the crawl has."""
    found = {}
    for chunk in chunks(list(dict.fromkeys(urls))):
        pages = Page.objects.filter(crawl=crawl, key__in=[key_of(url) for url in chunk])
        for row in pages.values_list(*ReferredPage._fields):
            seen = ReferredPage(*row)
            found[seen.url] = seen
    return found
