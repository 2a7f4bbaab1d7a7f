"""HEAD wherever GET is answered: the same status and headers, no body, and nothing made that would be thrown away."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crawler.core.protocol.completion import State
from crawler.exports.formats import FORMATS
from crawler.models import Crawl
from tests.api.calling import ROOT
from tests.api.test_routes import things_of
from tests.content_storages import kept_in
from tests.routes import API, WEB
from tests.web.test_access import patterns
from tests.web.test_middleware import ERRORS, PLACE, STATIC, addresses

COMPARED = ("Content-Type", "Content-Disposition", "Content-Security-Policy", "Location", "Allow")


@pytest.fixture
def browser(root: User, settings: Any) -> Client:
    """One that sees all there is, as often as it likes."""
    settings.CRAWLER_API_PER_MINUTE = 0
    client = Client(raise_request_exception=False)
    client.force_login(root)
    return client


@pytest.fixture
def places(root: User, tmp_path: Path, settings: Any, real_redis: object) -> dict[str, Any]:
    """What stands in the places of addresses: a crawl that is over, a page and all that belongs to it."""
    kept_in(tmp_path, settings)
    named = things_of(root)
    Crawl.objects.filter(pk=named["crawl_id"]).update(state=State.FINISHED)
    return {**named, "export_format": "csv", "key": "2xx-200", "uidb64": "MQ", "token": "abc-def"}


def there_is(places: dict[str, Any]) -> Iterator[str]:
    """Every address of the pages and of the API that GET opens, about things that are there."""
    by_get = {route.name for route in WEB if route.method == "GET"}
    for pattern in patterns():
        given = {**places, "slug": "new"} if "comparison" in str(pattern.name) else places
        if pattern.name in by_get:
            yield "/" + PLACE.sub(lambda place, given=given: str(given[place[1]]), str(pattern.pattern))
    for route in API:
        if route.method == "get":
            yield ROOT + route.path.format(**places)
    for export_format in FORMATS:
        yield f"{ROOT}/crawls/{places['crawl_id']}/exports/{export_format}"
    yield from (f"{ROOT}/me", f"{ROOT}/docs", f"{ROOT}/openapi.json")


def differences(browser: Client, address: str, *, may_be_refused: bool = True) -> list[str]:
    """Between what HEAD and what GET answers there."""
    head, got = browser.head(address), browser.get(address)
    body, _ = head.getvalue(), got.getvalue()
    found = [f"a body of {len(body)} bytes"] if body else []
    if head.status_code == 405 and not may_be_refused:
        found.append("405")
    if head.status_code != got.status_code:
        found.append(f"{head.status_code}, not {got.status_code}")
    if ("Content-Length" in head.headers) != ("Content-Length" in got.headers):
        found.append("Content-Length in one of them alone")
    for name in COMPARED:
        if head.headers.get(name) != got.headers.get(name):
            found.append(f"{name}: {head.headers.get(name)}, not {got.headers.get(name)}")
    return [f"{address}: {difference}" for difference in found]


@pytest.mark.long
def test_every_address_answers_it_as_it_answers_get(browser: Client, places: dict[str, Any]) -> None:
    everything = list(there_is(places))
    assert len(everything) > 80
    found = [differences(browser, address, may_be_refused=False) for address in everything]
    assert [fault for faults in found for fault in faults] == []


@pytest.mark.long
def test_so_do_addresses_of_nothing_of_the_admin_and_of_files(browser: Client, real_redis: object) -> None:
    everything = [*addresses(), *STATIC, *ERRORS]
    assert len(everything) > 200
    assert [fault for address in everything for fault in differences(browser, address)] == []


def test_it_tells_how_long_the_body_would_be(browser: Client, real_redis: object) -> None:
    for address in (f"{ROOT}/openapi.json", f"{ROOT}/me", "/healthz", "/static/crawler/pages.js"):
        head, got = browser.head(address), browser.get(address)
        assert (head.getvalue(), int(head["Content-Length"])) == (b"", len(got.getvalue()))


def test_no_page_is_read_for_an_export_that_nobody_gets(browser: Client, places: dict[str, Any]) -> None:
    crawl = f"crawls/{places['crawl_id']}"
    for address in (f"/{crawl}/export.csv", f"{ROOT}/{crawl}/exports/jsonl", f"{ROOT}/{crawl}/pages/exports/csv"):
        assert reads_of_pages(browser.get, address) > 0
        assert reads_of_pages(browser.head, address) == 0


def reads_of_pages(ask: Any, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        response = ask(address)
        response.getvalue()
    return sum('FROM "crawler_page"' in query["sql"] for query in queries)
