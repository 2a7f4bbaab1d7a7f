"""Counts the calls of hooks in a crawl, for transactions of the writer and for the notify job."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import F

from crawler.core.pages.hook_calls import HookCall, merged
from crawler.models import Crawl, HookCalls
from crawler.storage.sql import storable

ON_PAGE, ON_KEPT_PAGE = "on_page", "on_page, kept"
"""Of pages as they were fetched, and of kept HTML."""


def store(crawl: UUID, calls: Iterable[HookCall], method: str = ON_PAGE) -> None:
    """Count these calls with pages that were closed, or read again, in this transaction."""
    of_hook: dict[str, list[HookCall]] = {}
    for call in calls:
        of_hook.setdefault(call.hook, []).append(call)
    for hook, some in of_hook.items():
        add(crawl, hook, method, some)


def add(crawl: UUID, hook: str, method: str, calls: Iterable[HookCall]) -> None:
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


def types_of(crawl: Crawl) -> dict[str, str]:
    """The fields that hooks found in the crawl, with their types, in alphabetical order."""
    types: dict[str, str] = {}
    found = HookCalls.objects.filter(crawl=crawl, method__in=(ON_PAGE, ON_KEPT_PAGE)).order_by("hook")
    for fields in found.values_list("fields", flat=True):
        types = merged(types, fields)
    return dict(sorted(types.items()))
