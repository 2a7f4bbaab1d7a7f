"""The dead letters of a crawl: pages that were given up although another try might do better."""

from __future__ import annotations

from django.db.models import QuerySet

from crawler.models import Crawl, Page


def dead_letters(crawl: Crawl) -> QuerySet[Page]:
    """Pages that failed, in the order of their discovery; `outcome`, `http_status`, `attempts` and `error` say why."""
    return Page.objects.filter(crawl=crawl, given_up=True).order_by("id")
