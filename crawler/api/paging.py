"""Long lists, a page at a time. A cursor says behind which row the next page begins, so rows that come in between
neither shift the others nor are shown twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.http import urlencode

from crawler.core.cursors import LARGEST, cursor_of, numbers_of

MOST = 1000  # items on a page
LONGEST = 10**9  # no list has so many items

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
        rows = rows.filter(pk__gt=min(numbers_of(cursor, 1)[0], LARGEST))
    found = list(rows.order_by("pk")[: limit + 1])
    last = cursor_of(found[limit - 1].pk) if len(found) > limit else None
    return answer(request, shown(found[:limit]), last)


def by_place(
    request: HttpRequest, items: Callable[[int], Sequence[Any]], cursor: str | None, limit: int
) -> dict[str, Any]:
    """Items of a list that does not change; `items` gives the first so many of them."""
    begin = min(numbers_of(cursor, 1)[0], LONGEST) if cursor is not None else 0
    end = begin + limit
    found = list(items(end + 1))
    return answer(request, found[begin:end], cursor_of(end) if len(found) > end else None)


def answer(request: HttpRequest, items: list[Any], cursor: str | None) -> dict[str, Any]:
    """A page with the whole address of the next one; None behind the last."""
    return {"items": items, "next": None if cursor is None else address_with(request, cursor=cursor)}


def address_with(request: HttpRequest, **changed: str) -> str:
    """The address that was asked for, with other values of these parameters."""
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = value
    return request.build_absolute_uri(f"{request.path}?{urlencode(query.lists(), doseq=True)}")
