"""A long table, shown a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from crawler.reports import words

PER_PAGE = 100


Row = TypeVar("Row", bound=Model)


def paged(request: HttpRequest, rows: QuerySet[Row], shown: Callable[[Row], Any]) -> dict[str, Any]:
    """What a template needs: the paginator's page that is asked for, its rows, and how many there are in all."""
    found = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return {
        "found": found,
        "rows": [shown(row) for row in found],
        "count": words.counted(found.paginator.count, "page"),
    }
