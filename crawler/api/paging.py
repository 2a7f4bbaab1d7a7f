"""Long lists, a page at a time. A cursor says behind which row the next page begins, so rows that come in between
neither shift the others nor are shown twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.http import urlencode
from ninja import Query
from pydantic import Field

from crawler.core.crawl.page_query import MAX_KEY, cursor_of, numbers_of

MOST = 1000  # items on a page
LONGEST = 10**9  # no list has so many items
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LAST_MOMENT = 10**17  # microseconds, in the year 5138: no row was made after it

Cursor = Annotated[str | None, Query(max_length=200, description="From `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="Items on a page.")]

Row = TypeVar("Row", bound=Model)


def by_id(
    request: HttpRequest,
    rows: QuerySet[Row],
    cursor: str | None,
    limit: int,
    shown: Callable[[Sequence[Row]], list[Any]],
) -> dict[str, Any]:
    """Rows in the order of their ids, which are numbers."""
    if cursor is not None:
        rows = rows.filter(pk__gt=min(numbers_of(cursor, 1)[0], MAX_KEY))
    found = list(rows.order_by("pk")[: limit + 1])
    last = cursor_of(found[limit - 1].pk) if len(found) > limit else None
    return answer(request, shown(found[:limit]), last)


def by_order(
    request: HttpRequest,
    rows: Callable[[int | None], QuerySet[Row]],
    cursor: str | None,
    limit: int,
    shown: Callable[[Sequence[Row]], list[Any]],
) -> dict[str, Any]:
    """Rows in whatever order they come; `rows` gives those behind the row with this id. First the ids alone are put in
    order, then these few rows are read: a row is much longer than what it is sorted by."""
    behind = None if cursor is None else min(numbers_of(cursor, 1)[0], MAX_KEY)
    chosen = rows(behind)
    ids = list(chosen.values_list("pk", flat=True)[: limit + 1])
    of_id = chosen.model._default_manager.in_bulk(ids[:limit])
    found = [of_id[pk] for pk in ids[:limit] if pk in of_id]
    return answer(request, shown(found), cursor_of(ids[limit - 1]) if len(ids) > limit else None)


def by_place(
    request: HttpRequest, items: Callable[[int], Sequence[Any]], cursor: str | None, limit: int
) -> dict[str, Any]:
    """Items of a list that does not change; `items` gives the first so many of them."""
    return by_slice(request, lambda places: items(places.stop)[places.start :], cursor, limit)


def by_slice(
    request: HttpRequest, items: Callable[[slice], Sequence[Any]], cursor: str | None, limit: int
) -> dict[str, Any]:
    """The same; `items` gives those at these places."""
    begin = min(numbers_of(cursor, 1)[0], LONGEST) if cursor is not None else 0
    end = begin + limit
    found = list(items(slice(begin, end + 1)))
    return answer(request, found[:limit], cursor_of(end) if len(found) > limit else None)


def newest_first(
    request: HttpRequest,
    rows: QuerySet[Row],
    cursor: str | None,
    limit: int,
    shown: Callable[[Row], Any],
) -> dict[str, Any]:
    """Rows by `created_at`, whose ids are UUIDs. The cursor is the moment of the last one, in microseconds, and its id
    as a number: ids alone have no order."""
    if cursor is not None:
        moment, high, low = numbers_of(cursor, 3)
        when, last = EPOCH + MICROSECOND * min(moment, LAST_MOMENT), UUID(int=high << 64 | low)
        rows = rows.filter(Q(created_at__lt=when) | Q(created_at=when, pk__lt=last))
    found = list(rows.order_by("-created_at", "-pk")[: limit + 1])
    behind = _moment_of(found[limit - 1]) if len(found) > limit else None
    return answer(request, [shown(row) for row in found[:limit]], behind)


def _moment_of(row: Any) -> str:
    moment = (row.created_at - EPOCH) // MICROSECOND
    return cursor_of(moment, row.pk.int >> 64, row.pk.int % 2**64)


def answer(request: HttpRequest, items: list[Any], cursor: str | None) -> dict[str, Any]:
    """A page with the whole address of the next one; None behind the last."""
    return {"items": items, "next": None if cursor is None else address_with(request, cursor=cursor)}


def address_with(request: HttpRequest, **changed: str) -> str:
    """The address that was asked for, with other values of these parameters."""
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = value
    return request.build_absolute_uri(f"{request.path}?{urlencode(query.lists(), doseq=True)}")


# Numbers that a table can have: what is larger names nothing, and no database has to be asked for it.

RowId = Annotated[int, Field(ge=0, le=MAX_KEY)]
