"""The log of a crawl's deliveries, and the view that sends a notice again."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from redis import RedisError

from crawler.accounts.permissions import sees_addresses, visible_crawls
from crawler.core.access.permissions import Right
from crawler.core.errors import ServiceDown
from crawler.core.options.events import Event
from crawler.models import Delivery
from crawler.notices.delivery import resend
from crawler.reports import text
from crawler.reports.receipt import address_shown, error_shown
from crawler.reports.text import event_word
from crawler.web.crawl.crawl_summary import DELIVERIES, DELIVERY_TONES
from crawler.web.crawl.crawls import crawl_for
from crawler.web.decorators import page_to_post, page_to_read
from crawler.web.tables.paging import paged

DELIVERIES_PER_PAGE = 50
NO_REDIS = "Redis does not respond; it is sent as soon as Redis is back."


@page_to_read
def crawl_notices(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """All deliveries with their results, newest first."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    in_full = sees_addresses(request.user, crawl)
    deliveries = Delivery.to_receivers().filter(notice__crawl=crawl).select_related("notice").defer("notice__receipt")
    listed = paged(
        request,
        deliveries.order_by("-created_at", "-id"),
        partial(_row, in_full=in_full),
        noun="delivery",
        rows_per_page=DELIVERIES_PER_PAGE,
    )
    return render(request, "crawler/notices.html", {"crawl": crawl, **listed})


@page_to_post
def notice_again(request: HttpRequest, crawl_id: UUID, delivery_id: UUID) -> HttpResponse:
    """Send it to the same place once more."""
    crawl = crawl_for(request, crawl_id, Right.CONTROL)
    try:
        done = resend(crawl, delivery_id)
    except (ServiceDown, RedisError):
        messages.warning(request, NO_REDIS)
    else:
        if done is None:
            raise Http404
        messages.success(request, done)
    return redirect(reverse("crawl-notices", args=[crawl_id]))


def _row(delivery: Delivery, *, in_full: bool) -> dict[str, Any]:
    notice = delivery.notice
    is_delivered = delivery.state == Delivery.DELIVERED
    return {
        "delivery": delivery,
        "event": event_word(notice.event) + (" (sent again)" if delivery.again else ""),
        "about": _about(delivery),
        "address": address_shown(delivery, in_full=in_full),
        "state": DELIVERIES[delivery.state],
        "tone": DELIVERY_TONES[delivery.state],
        "said": delivery.answer if is_delivered else error_shown(delivery, in_full=in_full),
        "tries": "not tried yet" if not delivery.attempts else text.counted(delivery.attempts, "try"),
        "button": "Send again" if delivery.state != Delivery.PENDING else "Try now",
    }


def _about(delivery: Delivery) -> str:
    """The round, and the number of pages, of a notice."""
    notice = delivery.notice
    parts = [f"round {notice.round}"] if notice.round > 1 else []
    if notice.event == Event.PAGE:
        parts.append(text.counted(len(notice.pages), "page"))
    return ", ".join(parts)
