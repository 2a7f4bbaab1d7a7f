"""Tables of capabilities with a row for some pages, whose columns are fields of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec
from django.db.models import Model

from crawler import registry
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.page_fields import fields_from


class PageTable(msgspec.Struct, frozen=True):
    """One table; the rows have the ids of their pages."""

    relation: str  # of a page to its row; its `PageField`s name it

    model: type[Model]
    is_used: Callable[[CrawlOptions], bool]  # whether pages of such a crawl have rows
    lists: Callable[[Any], dict[str, Any]] = lambda row: {}  # row -> values that are no `PageField`, as plain JSON

    def values_of(self, page_id: int) -> dict[str, Any] | None:
        """As plain JSON; None for a page without a row."""
        row = self.model._default_manager.filter(pk=page_id).first()
        if row is None:
            return None
        return {column.name: getattr(row, column.name) for column in fields_from(self.relation)} | self.lists(row)

    def exported(self, page_ids: Iterable[int]) -> dict[int, Mapping[str, Any]]:
        """Page -> the values of its fields that are exported."""
        names = [column.name for column in fields_from(self.relation) if column.is_exported]
        found = self.model._default_manager.filter(pk__in=list(page_ids))
        return {row.pop("pk"): row for row in found.values("pk", *names)}


@cache
def page_tables() -> tuple[PageTable, ...]:
    return registry.entries("page_tables", PageTable)
