"""How often the operator's hooks were called in a crawl, and how often they failed."""

from __future__ import annotations

from django.db.models import Sum

from crawler.capabilities.hooks.loading import TRANSPORT
from crawler.models import Crawl, Delivery, HookCalls
from crawler.reports import text
from crawler.reports.crawl_parts import CrawlMetric, CrawlPart, Row


def calls_of(crawl: Crawl) -> list[HookCalls]:
    """By hook and method."""
    return list(HookCalls.objects.filter(crawl=crawl).order_by("hook", "method"))


def has_pending_calls(crawl: Crawl) -> bool:
    """Whether calls of `on_closed` or `on_finished` are still to be made."""
    return Delivery.objects.filter(notice__crawl=crawl, transport=TRANSPORT, state=Delivery.PENDING).exists()


def of_all_crawls() -> dict[tuple[str, ...], int]:
    """(hook, method, result) -> calls of all stored crawls; results are "returned", "error" and "timeout"."""
    of_method = HookCalls.objects.order_by().values_list("hook", "method")
    found: dict[tuple[str, ...], int] = {}
    for hook, method, calls, errors, timeouts in of_method.annotate(Sum("calls"), Sum("errors"), Sum("timeouts")):
        results = {"returned": calls - errors - timeouts, "error": errors, "timeout": timeouts}
        found.update({(hook, method, result): number for result, number in results.items()})
    return found


def row_of(calls: HookCalls) -> Row:
    """How often one method of a hook was called."""
    failed = [("raised an error", calls.errors), ("took too long", calls.timeouts)]
    troubles = [f"{text.count(number)} {what}" for what, number in failed if number]
    return {
        "name": f"{calls.hook}.{calls.method}",
        "state": "failed" if troubles else "called",
        "calls": ", ".join([text.counted(calls.calls, "call"), *troubles]),
        "error": calls.last_error,
        "tone": "bad" if troubles else "good",
    }


CRAWL_PARTS = (
    CrawlPart(
        name="hooks",
        title="Hooks",
        rows=lambda crawl: [row_of(calls) for calls in calls_of(crawl)],
        template="hooks/row.html",
        is_at_work=has_pending_calls,
        metrics=(
            CrawlMetric(
                "crawler_hook_calls",
                "Calls of hooks in all stored crawls.",
                ("hook", "method", "result"),
                of_all_crawls,
            ),
        ),
    ),
)
