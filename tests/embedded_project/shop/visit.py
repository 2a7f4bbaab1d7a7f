"""What a user and the project's own code do; prints what came of it as JSON."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django_rq
from django.contrib.auth.models import User
from django.test import Client

from crawler import results, start
from crawler.accounts.models import AuditEntry
from crawler.models import Crawl, Delivery
from shop.tasks import Order, confirm


def visit(site: str) -> dict[str, Any]:
    django_rq.get_queue("default").enqueue(confirm, Order(7))
    crawl = start(site, allow_private=True)
    wait_until(lambda: is_over(crawl))
    found = {"state": crawl.state, "pages": [page["url"] for page in results(crawl)]}
    wait_until(Path("orders.txt").exists)
    wait_until(lambda: not Delivery.objects.filter(state=Delivery.PENDING).exists())
    return {**found, "orders": Path("orders.txt").read_text(), "id": str(crawl.id), **as_a_user(site)}


def as_a_user(site: str) -> dict[str, Any]:
    User.objects.create_superuser("ann", password="correct horse")
    browser = Client(SERVER_NAME="127.0.0.1")
    asked = browser.get("/crawls/")
    login = asked.headers["Location"]
    browser.post(login, {"username": "ann", "password": "correct horse"})
    sent = browser.post("/crawls/crawls/", {"start_urls": site, "allow_private": "on"})
    crawl = Crawl.objects.latest("created_at")
    wait_until(lambda: is_over(crawl))
    return {
        "login": login,
        "sent_to": sent.headers["Location"],
        "crawl": browser.get(sent.headers["Location"]).content.decode(),
        "statuses": {below: browser.get(f"{sent.headers['Location']}{below}").status_code for below in BELOW},
        "of_the_api": browser.get(f"/crawls/api/v1/crawls/{crawl.id}").json()["links"]["pages"],
        "unknown_page": browser.get("/nothing").content.decode(),
        "actors": list(AuditEntry.objects.filter(act="crawl.started").order_by("at").values_list("actor", flat=True)),
    }


BELOW = ("pages/", "reports/", "graph/", "compare/", "exports/", "why/")


def is_over(crawl: Crawl) -> bool:
    crawl.refresh_from_db()
    return crawl.is_over


def wait_until(what: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not what():
        if time.monotonic() > ends:
            sys.exit("it did not happen")
        time.sleep(0.05)


def main() -> None:
    print(json.dumps(visit(sys.stdin.readline().strip())))
