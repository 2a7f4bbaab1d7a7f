"""Which crawls a list has: the same on the web page and in the API."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from crawler.core.protocol.completion import State
from crawler.models import Crawl


@dataclass(frozen=True)
class CrawlSearch:
    """The filters of a search; an empty one does not narrow it."""

    states: Collection[State] = ()
    text: str = ""  # in a start URL or in the name of a list, in any case
    owner: str = ""  # a user name

    def among(self, crawls: QuerySet[Crawl]) -> QuerySet[Crawl]:
        """The crawls that pass."""
        if self.states:
            crawls = crawls.filter(state__in=self.states)
        if self.owner:
            crawls = crawls.filter(owner__username=self.owner)
        if self.text:
            urls = Cast("start_urls", TextField())
            crawls = crawls.alias(urls=urls).filter(Q(urls__icontains=self.text) | Q(source__icontains=self.text))
        return crawls
