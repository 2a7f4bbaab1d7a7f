"""Fields are extracted again from kept HTML: by the command, and by a worker for the API and the button. No site is
asked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.site import Site, page
from tests.stack import Stack

WORKERS = 1
PATHS = tuple(f"/{number}" for number in range(30))  # more than a worker reads in a step
PAGES = {"/": page(*PATHS), **{path: f"<h1>Kettle {path[1:]}</h1><b>{path[1:]},50</b>" for path in PATHS}}
HEADING = {"name": "heading", "selector": "h1"}
PRICE = {"name": "price", "selector": "b", "type": "number"}
BY_HEADING = {path: {"heading": f"Kettle {path[1:]}"} for path in PATHS} | {"/": {"heading": None}}
BY_PRICE = {path: {"price": float(path[1:]) + 0.5} for path in PATHS} | {"/": {"price": None}}


def crawled(crew: Stack, site: Site, *rules: dict[str, str]) -> UUID:
    """A crawl that is over and kept the HTML of its pages."""
    crawl = crew.start(f"{site.url}/", keep=["html"], fields=rules)
    assert crew.wait_until_finished(crawl)["fetched"] == len(PAGES)
    site.requests.clear()
    return crawl


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


@pytest.mark.long
def test_the_command_extracts_by_new_rules_without_a_worker(crew: Stack, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps([PRICE]))
    with Site(PAGES).serving() as site:
        crawl = crawled(crew, site, HEADING)
        assert extracted(crew, crawl, site) == BY_HEADING
        command = ("python", "manage.py", "extract", str(crawl), "--kept", "--json")
        assert json.loads(crew.run(*command, "--fields", str(rules)).stdout) == ALL_READ
        assert extracted(crew, crawl, site) == BY_PRICE
        assert json.loads(crew.run(*command).stdout) == ALL_READ  # by its rules, which are the new ones now
        assert extracted(crew, crawl, site) == BY_PRICE
        assert not site.hits


def test_a_worker_does_it_for_the_api(crew: Stack) -> None:
    def call(send: Callable[[Any], Any]) -> Any:
        def as_a_program() -> Any:
            from crawler.core.access.permissions import Scope
            from tests.api.calling import Caller, a_token

            return send(Caller(a_token(a_superuser(), Scope.CRAWLS_WRITE, Scope.CRAWLS_READ))).json()

        return crew.within(as_a_program)

    with Site(PAGES).serving() as site:
        crawl = crawled(crew, site, HEADING)
        begun = call(lambda caller: caller.post(f"/crawls/{crawl}/extract", {"fields": [PRICE]}))
        assert (begun["done"], begun["seen"]) == (False, 0)  # it was sent, and not done within the call
        assert wait_until_extracted(crew, crawl) == ALL_READ
        assert extracted(crew, crawl, site) == BY_PRICE
        told = call(lambda caller: caller.get(f"/crawls/{crawl}/extract"))
        assert (told["done"], told["read"]) == (True, len(PAGES))
        assert not site.hits


@pytest.mark.long
def test_a_worker_does_it_for_the_button(crew: Stack) -> None:
    def press() -> None:
        from django.test import Client

        from crawler.models import Crawl

        browser = Client()
        browser.force_login(a_superuser())
        shown = browser.get(f"/crawls/{crawl}/").content.decode()
        assert f'action="/crawls/{crawl}/extract"' in shown
        changed = Crawl.objects.get(id=crawl)
        changed.options |= {"fields": [PRICE]}
        changed.save(update_fields=["options"])
        assert browser.post(f"/crawls/{crawl}/extract").status_code == 302

    with Site(PAGES).serving() as site:
        crawl = crawled(crew, site, HEADING)
        crew.within(press)
        crew.wait_for(lambda: bool(crew.rows("SELECT 1 FROM crawler_keptextraction WHERE crawl_id = ?", crawl.hex)))
        assert wait_until_extracted(crew, crawl) == ALL_READ
        assert extracted(crew, crawl, site) == BY_PRICE
        assert not site.hits


def a_superuser() -> Any:
    from django.contrib.auth.models import User

    return User.objects.get_or_create(username="root", is_superuser=True, is_staff=True)[0]
