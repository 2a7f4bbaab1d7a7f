"""The dead letters of many crawls: which there are, the newest first, and how many of each error.

The index `page_dead_letters` has all that selects, orders and counts them but the URL, which only the filter by host
reads.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_query import MAX_KEY, cursor_of, numbers_of
from crawler.core.urls.normalise import BELOW, check_host, parse_user_host
from crawler.models import Crawl, Page
from crawler.storage.queries import on_host

NEWEST_FIRST = ("-given_up_at", "-id")
MAX_CRAWLS_LISTED = 100  # with dead letters, to choose one from

_INFINITY = 0x7FF0_0000_0000_0000  # as the bits of a float; a larger number is none


@dataclass(frozen=True)
class LetterFilter:
    """Which dead letters. One must pass all filters."""

    outcome: str = ""  # an outcome; "" = any
    host: str = ""  # with its port unless it is the usual one; "" = any
    crawl: UUID | None = None
    since: float | None = None  # epoch seconds; None = all, even without a time (of earlier versions)

    @property
    def is_narrowed(self) -> bool:
        return self != LetterFilter()


def checked(outcome: str, host: str, crawl: UUID | None, since: float | None) -> LetterFilter:
    """The filter as typed. BadInput names the first value that cannot be used."""
    if outcome and outcome not in set(Outcome):
        raise BadInput("outcome", f"The outcome can be {', '.join(Outcome)}; not {outcome!r}.")
    if host.strip():
        check_host("host", host)
        if host.strip().startswith(BELOW):
            raise BadInput("host", "Name one host, such as shop.example.com; its subdomains are separate hosts.")
        host = parse_user_host(host)
    return LetterFilter(outcome, host.strip(), crawl, since)


def letters_of(crawls: QuerySet[Crawl], chosen: LetterFilter) -> QuerySet[Page]:
    """The dead letters of these crawls that pass the filter, the newest first."""
    rows = Page.objects.filter(given_up=True)
    if crawls.query.has_filters():  # else SQLite would go crawl by crawl and sort what it finds
        rows = rows.filter(crawl__in=crawls.order_by().values("pk"))
    if chosen.outcome:
        rows = rows.filter(outcome=chosen.outcome)
    if chosen.crawl is not None:
        rows = rows.filter(crawl=chosen.crawl)
    if chosen.since is not None:
        rows = rows.filter(given_up_at__gte=chosen.since)
    if chosen.host:
        rows = rows.filter(on_host(chosen.host))
    return rows.order_by(*NEWEST_FIRST)


def ids_from(letters: QuerySet[Page], cursor: str | None, at_most: int) -> list[tuple[float, int]]:
    """(time, id) of the newest of these dead letters, or of the next ones behind the cursor. BadInput ("cursor")."""
    if cursor is not None:
        at, page = _position(cursor)
        letters = letters.filter(Q(given_up_at__lt=at) | Q(id__lt=page), given_up_at__lte=at)  # one range of the index
    return list(letters.values_list("given_up_at", "id")[:at_most])


def ids_before(letters: QuerySet[Page], cursor: str, at_most: int) -> list[tuple[float, int]]:
    """The same of those that are newer than the cursor, the nearest; the newest first."""
    at, page = _position(cursor)
    newer = letters.filter(Q(given_up_at__gt=at) | Q(id__gt=page), given_up_at__gte=at).order_by("given_up_at", "id")
    return list(newer.values_list("given_up_at", "id")[:at_most])[::-1]


def cursor_behind(at: float, page: int) -> str:
    """The cursor of the dead letters behind this one. It names a moment and not the row alone, whose time is deleted
    when it is tried again."""
    return cursor_of(int.from_bytes(struct.pack(">d", at)), page)


def _position(cursor: str) -> tuple[float, int]:
    bits, page = numbers_of(cursor, 2)
    return struct.unpack(">d", min(bits, _INFINITY).to_bytes(8))[0], min(page, MAX_KEY)


def read(found: list[tuple[float, int]]) -> list[Page]:
    """These rows in their order, with their crawls. A row is much longer than its sort key, so only few are read."""
    ids = [page for _, page in found]
    of_id = Page.objects.select_related("crawl").in_bulk(ids)
    return [of_id[page] for page in ids if page in of_id]


def counts(letters: QuerySet[Page]) -> dict[str, int]:
    """Outcome -> dead letters, the most first. All of them are counted, by the index alone unless a host is chosen."""
    groups = letters.order_by().values_list("outcome").annotate(number=Count("id"))
    return dict(groups.order_by("-number", "outcome"))


def crawls_with(crawls: QuerySet[Crawl]) -> list[Crawl]:
    """Those of these crawls that have dead letters, by the newest of them."""
    newest = letters_of(crawls, LetterFilter()).order_by().values_list("crawl").annotate(last=Max("given_up_at"))
    ids = [crawl for crawl, _ in newest.order_by("-last")[:MAX_CRAWLS_LISTED]]
    of_id = Crawl.objects.in_bulk(ids)
    return [of_id[crawl] for crawl in ids if crawl in of_id]
