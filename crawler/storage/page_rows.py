"""The rows of pages that capabilities store, besides the kernel's, in the transactions of the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from uuid import UUID

import msgspec

from crawler import registry
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.storage.queries import OpenPage


class PageRows(msgspec.Struct, frozen=True):
    """One capability's."""

    store: Callable[[UUID, Sequence[PageResult], Sequence[Discovery]], None]
    """Called with the crawl, the results that closed pages, in the order of their pages, and the pages that were found
    and are inserted afterwards. The crawl's row is locked."""

    delete: Callable[[UUID, Sequence[int]], None] | None = None
    """Called with the crawl and pages that are about to be deleted; None if the rows are deleted with the crawl."""

    notes: Callable[[UUID, CrawlOptions, Iterable[OpenPage]], dict[str, str]] | None = None
    """Called with the crawl, its options and pages that are handed out. URL -> `PageTask.note`, as it was stored."""

    is_of_result: bool = False  # they are also deleted when their page is opened again


@cache
def _all() -> tuple[PageRows, ...]:
    return registry.entries("page_rows", PageRows)


def store(crawl: UUID, closings: Sequence[PageResult], found: Sequence[Discovery]) -> None:
    for rows in _all():
        rows.store(crawl, closings, found)


def delete(crawl: UUID, page_ids: Sequence[int], *, of_results_only: bool = False) -> None:
    for rows in _all():
        if rows.delete is not None and (rows.is_of_result or not of_results_only):
            rows.delete(crawl, page_ids)


def notes(crawl: UUID, options: CrawlOptions, pages: Iterable[OpenPage]) -> dict[str, str]:
    """URL -> note of the pages that have one."""
    found: dict[str, str] = {}
    for rows in _all():
        if rows.notes is not None:
            found |= rows.notes(crawl, options, pages)
    return found
