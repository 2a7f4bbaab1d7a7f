"""Which pages of a crawl an export tells of: the one place that reads what was asked for."""

from __future__ import annotations

from typing import TypedDict, Unpack

from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from crawler.core.directives import NOINDEX
from crawler.core.errors import BadInput
from crawler.core.outcomes import Outcome
from crawler.core.work import EXTERNAL
from crawler.models import Crawl, Page

WIDEST = 10  # rows from a crawl's first to its last, for each of its own

NOT_INDEXED = Q(directives=NOINDEX) | Q(directives__startswith=f"{NOINDEX} ")  # it comes first in a record


class Chosen(TypedDict, total=False):
    """What may be asked of an export; nothing = all pages the receipt counts."""

    externals: bool  # in place of the pages the links that leave the site, asked for or only recorded
    among: QuerySet[Page]  # these rows alone and in their order, such as those of a report; not sliced


def selected(crawl: Crawl, **chosen: Unpack[Chosen]) -> QuerySet[Page]:
    """The pages, in the order of their discovery unless `among` has one. A crawl that obeys noindex leaves out pages
    that ask for it."""
    found = _asked_for(crawl, **chosen)
    if crawl.chosen.obey_noindex:
        found = found.exclude(NOT_INDEXED)
    return found if found.ordered else found.order_by("id")


def of_site_alone(what: str, **chosen: Unpack[Chosen]) -> None:
    """BadInput when links to other sites were asked for in a format that has no place for them."""
    if chosen.get("externals"):
        raise BadInput("externals", f"{what} holds pages of the site alone; leave out the links to other sites.")


def _asked_for(crawl: Crawl, **chosen: Unpack[Chosen]) -> QuerySet[Page]:
    among = chosen.get("among")
    if among is not None:
        return among.filter(crawl=crawl)
    found = _of(crawl)
    return found.filter(kind=EXTERNAL) if chosen.get("externals") else found.exclude(outcome=Outcome.EXTERNAL)


def _of(crawl: Crawl) -> QuerySet[Page]:
    """All its rows, so that they come in the order of their ids without being sorted: of a million SQLite would give
    the first after seven seconds and 60 MB of memory. It reads the table from the crawl's first row to its last
    instead, as long as not too many others stand between, and is told the crawl in a way no index serves."""
    mine = Page.objects.filter(crawl=crawl)
    known = mine.aggregate(first=Min("id"), last=Max("id"), number=Count("id"))
    if not known["number"] or known["last"] - known["first"] > WIDEST * known["number"]:
        return mine
    rows = Page.objects.alias(of=Coalesce("crawl_id", "crawl_id"))
    return rows.filter(id__range=(known["first"], known["last"]), of=crawl.id)
