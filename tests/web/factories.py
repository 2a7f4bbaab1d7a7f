"""Crawls, pages and people for the tests of the web pages: the least each needs, the rest by name."""

from __future__ import annotations

from datetime import timedelta
from hashlib import blake2b
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from crawler.core.crawl.completion import State
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome, of_status
from crawler.models import Crawl, Delivery, Notice, Page

SITE = "https://example.com/"


def a_person(name: str = "ann", *, superuser: bool = False) -> User:
    made: User = (User.objects.create_superuser if superuser else User.objects.create_user)(name, password="secret")
    return made


def a_crawl(owner: User | None = None, *, options: CrawlOptions | None = None, **fields: Any) -> Crawl:
    """A running crawl with nothing but its start URL."""
    values: dict[str, Any] = {"start_urls": [SITE], "discovered": 1, **fields}
    return Crawl.objects.create(owner=owner, options=(options or CrawlOptions()).to_plain(), **values)


def a_finished_crawl(owner: User | None = None, **fields: Any) -> Crawl:
    """A crawl of three pages, all well, that took 12 seconds."""
    now = timezone.now()
    values: dict[str, Any] = {
        "state": State.FINISHED,
        "created_at": now - timedelta(seconds=12),
        "finished_at": now,
        "discovered": 3,
        "outcomes": {"2xx": 3},
        "statuses": {"200": 3},
        **fields,
    }
    return a_crawl(owner, **values)


def a_cancelled_crawl(owner: User | None = None, **fields: Any) -> Crawl:
    """A crawl of ten pages that was cancelled when four had answered."""
    outcomes = {"2xx": 4, "cancelled": 6}
    values = {"state": State.CANCELLED, "discovered": 10, "outcomes": outcomes, "statuses": {"200": 4}, **fields}
    return a_finished_crawl(owner, **values)


def a_page(crawl: Crawl, url: str = SITE, answer: int | Outcome = 200, **fields: Any) -> Page:
    """A closed page that answered with this status, or closed with this outcome."""
    outcome = of_status(answer) if isinstance(answer, int) else answer
    values: dict[str, Any] = {
        "key": blake2b(url.encode(), digest_size=16).digest(),
        "url": url,
        "status": Page.CLOSED,
        "outcome": outcome,
        "http_status": answer if isinstance(answer, int) else None,
        "fetched_at": timezone.now(),
        **fields,
    }
    return Page.objects.create(crawl=crawl, **values)


def a_delivery(crawl: Crawl, address: str = "me@example.com", state: str = Delivery.PENDING, **fields: Any) -> Delivery:
    notice, _ = Notice.objects.get_or_create(crawl=crawl, event="finished", defaults={"receipt": {}})
    return Delivery.objects.create(notice=notice, address=address, state=state, **{"transport": "email", **fields})
