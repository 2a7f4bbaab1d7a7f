"""Pages of a long list. A cursor names the last row of a page, so that rows inserted later neither shift nor repeat
others."""

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

from crawler.core.pages.page_query import MAX_KEY, cursor_of, numbers_of

MAX_LIMIT = 1000  # items on a page
MAX_POSITION = 10**9  # no list has so many items
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MAX_MICROSECONDS = 10**17  # since EPOCH, in the year 5138: no row was made after it

Cursor = Annotated[str | None, Query(max_length=200, description="From `next` of the previous page.")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Items on a page.")]

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


def by_id(
    request: HttpRequest,
    rows: QuerySet[Row],
    cursor: str | None,
    limit: int,
    shown: Callable[[Sequence[Row]], list[Any]],
) -> dict[str, Any]:
    """Rows in the order of their ids, which are numbers."""
    if cursor is not None:
        rows = rows.filter(pk__gt=_id_of(cursor))
    found = list(rows.order_by("pk")[: limit + 1])
    return _page(request, found, limit, shown, lambda row: cursor_of(row.pk))


def by_order(
    request: HttpRequest,
    rows: Callable[[int | None], QuerySet[Row]],
    cursor: str | None,
    limit: int,
    shown: Callable[[Sequence[Row]], list[Any]],
) -> dict[str, Any]:
    """Rows in any order; `rows` gives those behind the row with this id. First the ids alone are sorted, then these few
    rows are read, because a row is much longer than its sort key."""
    chosen = rows(None if cursor is None else _id_of(cursor))
    ids = list(chosen.values_list("pk", flat=True)[: limit + 1])

    def read(ids: Sequence[int]) -> list[Any]:
        of_id = chosen.model._default_manager.in_bulk(ids)
        return shown([of_id[pk] for pk in ids if pk in of_id])

    return _page(request, ids, limit, read, cursor_of)


def by_position(
    request: HttpRequest, items: Callable[[slice], Sequence[Any]], cursor: str | None, limit: int
) -> dict[str, Any]:
    """Items of a list that does not change; `items` gives those of a slice."""
    start = min(numbers_of(cursor, 1)[0], MAX_POSITION) if cursor is not None else 0
    end = start + limit
    return _page(request, items(slice(start, end + 1)), limit, list, lambda item: cursor_of(end))


def newest_first(
    request: HttpRequest, rows: QuerySet[Row], cursor: str | None, limit: int, shown: Callable[[Row], Any]
) -> dict[str, Any]:
    """Rows by `created_at`, whose ids are UUIDs. The cursor is the time of the last one, in microseconds, and its id as
    a number, because several rows can have the same time."""
    if cursor is not None:
        microseconds, high, low = numbers_of(cursor, 3)
        created_at = EPOCH + MICROSECOND * min(microseconds, MAX_MICROSECONDS)
        is_older = Q(created_at__lt=created_at) | Q(created_at=created_at, pk__lt=UUID(int=high << 64 | low))
        rows = rows.filter(is_older)
    found = list(rows.order_by("-created_at", "-pk")[: limit + 1])
    return _page(request, found, limit, lambda page: [shown(row) for row in page], _cursor_of_time)


def _id_of(cursor: str) -> int:
    return min(numbers_of(cursor, 1)[0], MAX_KEY)


def _cursor_of_time(row: Any) -> str:
    microseconds = (row.created_at - EPOCH) // MICROSECOND
    return cursor_of(microseconds, row.pk.int >> 64, row.pk.int % 2**64)


def _page(
    request: HttpRequest,
    found: Sequence[Item],
    limit: int,
    shown: Callable[[Sequence[Item]], list[Any]],
    cursor_behind: Callable[[Item], str],
) -> dict[str, Any]:
    """A page with the address of the next one; None behind the last. `found` has more than `limit` items when there is
    a next page."""
    has_more = len(found) > limit
    following = address_with(request, cursor=cursor_behind(found[limit - 1])) if has_more else None
    return {"items": shown(found[:limit]), "next": following}


def address_with(request: HttpRequest, **changed: str) -> str:
    """The address of this request with other values of these parameters."""
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = value
    return request.build_absolute_uri(f"{request.path}?{urlencode(query.lists(), doseq=True)}")


RowId = Annotated[int, Field(ge=0, le=MAX_KEY)]
"""A larger number is the id of no row, and is refused without a query."""
