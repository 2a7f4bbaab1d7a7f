"""How often the operator's hooks were called in a crawl, and how often they failed."""

from __future__ import annotations

from django.db.models import Sum

from crawler.core.options.events import HOOK
from crawler.models import Crawl, Delivery, HookCalls


def calls_of(crawl: Crawl) -> list[HookCalls]:
    """By hook and method."""
    return list(HookCalls.objects.filter(crawl=crawl).order_by("hook", "method"))


def has_pending_calls(crawl: Crawl) -> bool:
    """Whether calls of `on_closed` or `on_finished` are still to be made."""
    return Delivery.objects.filter(notice__crawl=crawl, transport=HOOK, state=Delivery.PENDING).exists()


def of_all_crawls() -> dict[tuple[str, str, str], int]:
    """(hook, method, result) -> calls of all stored crawls; results are "returned", "error" and "timeout"."""
    of_method = HookCalls.objects.order_by().values_list("hook", "method")
    found: dict[tuple[str, str, str], int] = {}
    for hook, method, calls, errors, timeouts in of_method.annotate(Sum("calls"), Sum("errors"), Sum("timeouts")):
        results = {"returned": calls - errors - timeouts, "error": errors, "timeout": timeouts}
        found.update({(hook, method, result): number for result, number in results.items()})
    return found
