"""Fields are extracted again from kept HTML by a worker, for the API. No site is asked."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from tests.site import Site, page
from tests.stack import Stack

WORKERS = 1
PATHS = tuple(f"/{number}" for number in range(30))  # more than a worker reads in a step
PAGES = {"/": page(*PATHS), **{path: f"<h1>Kettle {path[1:]}</h1><b>{path[1:]},50</b>" for path in PATHS}}
HEADING = {"name": "heading", "selector": "h1"}
PRICE = {"name": "price", "selector": "b", "type": "number"}
BY_PRICE = {path: {"price": float(path[1:]) + 0.5} for path in PATHS} | {"/": {"price": None}}


def extracted(crew: Stack, crawl: UUID, site: Site) -> dict[str, Any]:
    """Path -> fields."""
    rows = crew.rows(
        "SELECT url, fields FROM crawler_pagefacts f JOIN crawler_page p ON p.id = f.page_id WHERE f.crawl_id = ?",
        crawl.hex,
    )
    return {row["url"].removeprefix(site.url): json.loads(row["fields"]) for row in rows}


def wait_until_extracted(crew: Stack, crawl: UUID) -> dict[str, int]:
    """What a worker counted."""
    found = lambda: crew.rows("SELECT * FROM crawler_keptextraction WHERE crawl_id = ?", crawl.hex)  # noqa: E731
    crew.wait_for(lambda: all(row["done_at"] for row in found()))
    [row] = found()
    return {name: row[name] for name in ("seen", "read", "missing", "failed")}


ALL_READ = {"seen": len(PAGES), "read": len(PAGES), "missing": 0, "failed": 0}


def test_a_worker_does_it_for_the_api(crew: Stack) -> None:
    def call(send: Callable[[Any], Any]) -> Any:
        def as_a_program() -> Any:
            from crawler.core.access.permissions import Scope
            from tests.api.calling import Caller, a_token

            return send(Caller(a_token(a_superuser(), Scope.CRAWLS_WRITE, Scope.CRAWLS_READ))).json()

        return crew.within(as_a_program)

    with Site(PAGES).serving() as site:
        crawl = crew.start(f"{site.url}/", keep=["html"], fields=[HEADING])
        assert crew.wait_until_finished(crawl)["fetched"] == len(PAGES)
        site.requests.clear()
        begun = call(lambda caller: caller.post(f"/crawls/{crawl}/extract", {"fields": [PRICE]}))
        assert (begun["done"], begun["seen"]) == (False, 0)  # it was sent, and not done within the call
        assert wait_until_extracted(crew, crawl) == ALL_READ
        assert extracted(crew, crawl, site) == BY_PRICE
        told = call(lambda caller: caller.get(f"/crawls/{crawl}/extract"))
        assert (told["done"], told["read"]) == (True, len(PAGES))
        assert not site.hits


def a_superuser() -> Any:
    from django.contrib.auth.models import User

    return User.objects.get_or_create(username="root", is_superuser=True, is_staff=True)[0]
