"""The list of crawls: which of them are asked for, and a page of those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, QueryDict

from crawler import clock
from crawler.core.lifecycle import State
from crawler.models import NOT_OVER, Crawl
from crawler.web.status import STATES, summary_of

PER_PAGE = 25  # crawls on one page of the list
OWNERS = 200  # people to choose from, at most
SOON, LATER = "3s", "30s"  # until the page asks again: while a crawl goes on, and otherwise


@dataclass(frozen=True)
class Filters:
    """Which crawls are asked for; "" = any."""

    state: str = ""  # a State, or "going" for all that are not over
    text: str = ""  # found in a start URL or in the name of a list
    owner: str = ""  # a person's name

    @classmethod
    def of(cls, typed: QueryDict) -> Filters:
        """As they stand in the address; a state that does not exist filters nothing."""
        state = typed.get("state", "")
        known = state == "going" or state in set(State)
        return cls(state if known else "", typed.get("q", "").strip(), typed.get("owner", ""))

    def __bool__(self) -> bool:
        return self != Filters()

    def among(self, crawls: QuerySet[Crawl]) -> QuerySet[Crawl]:
        """Those of these crawls that pass."""
        if self.state:
            crawls = crawls.filter(state__in=NOT_OVER if self.state == "going" else [self.state])
        if self.owner:
            crawls = crawls.filter(owner__username=self.owner)
        if self.text:
            urls = Cast("start_urls", TextField())
            crawls = crawls.alias(urls=urls).filter(Q(urls__icontains=self.text) | Q(source__icontains=self.text))
        return crawls


def list_of(request: HttpRequest, visible: QuerySet[Crawl]) -> dict[str, Any]:
    """What the list shows: filters, summaries, a page of crawls, and when to ask again."""
    filters = Filters.of(request.GET)
    rows = filters.among(visible).select_related("owner").order_by("-created_at")
    crawls = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    now = clock.epoch_seconds()
    return {
        "filters": filters,
        "states": [("going", "Going on"), *((state.value, name) for state, name in STATES.items())],
        "owners": _owners(request.user, visible),
        "crawls": crawls,
        "summaries": [summary_of(crawl, now) for crawl in crawls],
        "again_in": LATER if all(crawl.is_over for crawl in crawls) else SOON,
        "asked": _asked(request.GET),
        "asked_page": crawls.number,
    }


def _owners(user: User | AnonymousUser, visible: QuerySet[Crawl]) -> list[str]:
    """Whose crawls there are to be seen; those who see their own alone are not asked."""
    if not user.is_staff:
        return []
    names = visible.filter(owner__isnull=False).order_by("owner__username").values_list("owner__username", flat=True)
    return list(names.distinct()[:OWNERS])


def _asked(typed: QueryDict) -> str:
    """The filters as they stand in an address, to be followed by more: "state=paused&"."""
    kept = typed.copy()
    for name in list(kept):
        if name not in {"state", "q", "owner"} or not kept[name]:
            del kept[name]
    return f"{kept.urlencode()}&" if kept else ""
