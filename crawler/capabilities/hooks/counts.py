"""Counts the calls of hooks and spiders in a crawl, and the fields they found: in transactions of the writer, and for
the notify job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import F, QuerySet

from crawler.capabilities.hooks.loading import ON_PAGE
from crawler.core.pages.code_calls import CodeCall, merged
from crawler.core.protocol.messages import PageResult
from crawler.models import HookCalls
from crawler.storage.sql import storable

ON_KEPT_PAGE = "on_page, kept"
"""The method of calls with kept HTML, in the table."""


def store(crawl: UUID, results: Sequence[PageResult], method: str = ON_PAGE) -> None:
    """Count the calls with pages that were closed, or read again, in this transaction."""
    of_code: dict[str, list[CodeCall]] = {}
    for call in (call for result in results for call in result.code_calls):
        of_code.setdefault(call.name, []).append(call)
    for name, some in of_code.items():
        add(crawl, name, method, some)


def add(crawl: UUID, hook: str, method: str, calls: Iterable[CodeCall]) -> None:
    """Add these calls of one method to the counts of the crawl. Their fields are added to its columns: only with the
    crawl's row locked."""
    row, _ = HookCalls.objects.get_or_create(crawl_id=crawl, hook=hook, method=method)
    done = [call for call in calls if not call.reused]
    failed = [call for call in done if call.error]
    changes = {
        "calls": F("calls") + len(done),
        "errors": F("errors") + sum(not call.timed_out for call in failed),
        "timeouts": F("timeouts") + sum(call.timed_out for call in failed),
    }
    fields = row.fields
    for call in calls:
        fields = merged(fields, call.fields)
    last = {"last_error": storable(failed[-1].error)} if failed else {}
    new = {"fields": fields} if fields != row.fields else {}
    HookCalls.objects.filter(id=row.id).update(**changes, **last, **new)


def found(crawl: UUID) -> QuerySet[HookCalls, dict[str, str]]:
    """The fields that each class has found in the crawl, with their types, by the names of the classes."""
    return HookCalls.objects.filter(crawl=crawl).order_by("hook").values_list("fields", flat=True)
