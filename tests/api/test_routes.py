"""Every route as nobody, as somebody else, with a token that lacks its scope, and as the owner."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.api.v1 import api
from crawler.content.shelf import Shelf, named
from crawler.content.storage import packed
from crawler.core.access.permissions import ALL_SCOPES, Scope
from crawler.core.crawl.completion import State
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import QueueItem
from crawler.models import ApiToken, Channel, Crawl, PageFacts
from crawler.queueing import queues
from tests.api.calling import ROOT, Caller, a_token
from tests.content.storages import kept_in
from tests.factories import a_crawl, a_delivery, a_page
from tests.web.crawl.test_schedules import a_schedule

NOWHERE_URL = "http://127.0.0.1:8/"


@dataclass(frozen=True)
class Route:
    """A route and what it answers to its owner."""

    method: str
    path: str
    scope: Scope
    status: int = 200
    body: Any = None
    of_one: bool = True  # it is about one thing, which is somebody's


READ, WRITE, DELETE = Scope.CRAWLS_READ, Scope.CRAWLS_WRITE, Scope.CRAWLS_DELETE
START = {"start_urls": [NOWHERE_URL], "allow_private": True}
CHANNEL = {"transport": "email", "address": "me@example.com"}

ROUTES = [
    Route("get", "/crawls", READ, of_one=False),
    Route("post", "/crawls", WRITE, 201, START, of_one=False),
    Route("get", "/crawls/{crawl_id}", READ),
    Route("delete", "/crawls/{crawl_id}", DELETE, 204),
    Route("get", "/crawls/{crawl_id}/receipt", READ),
    Route("get", "/crawls/{crawl_id}/why", READ),
    Route("post", "/crawls/list", WRITE, 422, {}, of_one=False),  # JSON has no file in it
    Route("post", "/crawls/{crawl_id}/share", WRITE, 200, {"group": None}),
    Route("post", "/crawls/{crawl_id}/keep", WRITE, 200, {"keep": True}),
    Route("get", "/crawls/{crawl_id}/figures", READ),
    Route("get", "/crawls/{crawl_id}/graph", READ),
    Route("get", "/crawls/{crawl_id}/reports", READ),
    Route("get", "/crawls/{crawl_id}/reports/{slug}", READ),
    Route("get", "/crawls/{crawl_id}/reports/{slug}/lines?key=2xx-200", READ),
    Route("get", "/crawls/{crawl_id}/reports/{slug}/exports/{export_format}", READ),
    Route("get", "/crawls/{crawl_id}/comparisons", READ),
    Route("get", "/crawls/{crawl_id}/comparisons/{other_id}", READ),
    Route("get", "/crawls/{crawl_id}/comparisons/{other_id}/{change}", READ),
    Route("get", "/crawls/{crawl_id}/comparisons/{other_id}/{change}/exports/{export_format}", READ),
    Route("get", "/crawls/{crawl_id}/notices", READ),
    Route("post", "/crawls/{crawl_id}/notices/{delivery_id}/again", WRITE),
    Route("post", "/crawls/{crawl_id}/pause", WRITE),
    Route("post", "/crawls/{crawl_id}/resume", WRITE),
    Route("post", "/crawls/{crawl_id}/cancel", WRITE),
    Route("post", "/crawls/{crawl_id}/retry-failed", WRITE),
    Route("post", "/crawls/{crawl_id}/hosts/{host}/forget", WRITE),
    Route("get", "/crawls/{crawl_id}/pages", READ),
    Route("get", "/crawls/{crawl_id}/pages/{page_id}", READ),
    Route("get", "/crawls/{crawl_id}/pages/exports/{export_format}", READ),
    Route("get", "/crawls/{crawl_id}/pages/{page_id}/ways", READ),
    Route("get", "/crawls/{crawl_id}/pages/{page_id}/content/{form}", READ),
    Route("get", "/crawls/{crawl_id}/pages/{page_id}/links-out", READ),
    Route("get", "/crawls/{crawl_id}/pages/{page_id}/links-in", READ),
    Route("get", "/crawls/{crawl_id}/dead-letters", READ),
    Route("get", "/crawls/{crawl_id}/orphans", READ),
    Route("get", "/crawls/{crawl_id}/traps", READ),
    Route("post", "/crawls/{crawl_id}/traps/release", WRITE),
    Route("get", "/crawls/{crawl_id}/exports", READ),
    Route("get", "/crawls/{crawl_id}/exports/{export_format}", READ),
    Route("get", "/crawls/{crawl_id}/events", READ),
    Route("post", "/extraction/preview", WRITE, 422, {"try_url": NOWHERE_URL}, of_one=False),  # no rules
    Route("get", "/channels", Scope.CHANNELS_READ, of_one=False),
    Route("post", "/channels", Scope.CHANNELS_WRITE, 201, CHANNEL, of_one=False),
    Route("get", "/channels/{channel_id}", Scope.CHANNELS_READ),
    Route("put", "/channels/{channel_id}", Scope.CHANNELS_WRITE, 200, CHANNEL),
    Route("post", "/channels/{channel_id}/pause", Scope.CHANNELS_WRITE),
    Route("post", "/channels/{channel_id}/resume", Scope.CHANNELS_WRITE),
    Route("post", "/channels/{channel_id}/test", Scope.CHANNELS_WRITE),
    Route("delete", "/channels/{channel_id}", Scope.CHANNELS_WRITE, 204),
    Route("get", "/schedules", Scope.SCHEDULES_READ, of_one=False),
    Route("post", "/schedules", Scope.SCHEDULES_WRITE, 201, {**START, "rule": "every 6h"}, of_one=False),
    Route("get", "/schedules/{schedule_id}", Scope.SCHEDULES_READ),
    Route("post", "/schedules/{schedule_id}/pause", Scope.SCHEDULES_WRITE),
    Route("post", "/schedules/{schedule_id}/resume", Scope.SCHEDULES_WRITE),
    Route("delete", "/schedules/{schedule_id}", Scope.SCHEDULES_WRITE, 204),
    Route("get", "/tokens", Scope.TOKENS_READ, of_one=False),
    Route("delete", "/tokens/{token_id}", Scope.TOKENS_WRITE, 204),
    Route("post", "/crawl", WRITE, 422, {"url": NOWHERE_URL}, of_one=False),  # a private address
    Route("get", "/crawl/active", READ, of_one=False),
    Route("get", "/crawl/{crawl_id}", READ),
    Route("get", "/crawl/{crawl_id}/errors", READ),
    Route("delete", "/crawl/{crawl_id}", WRITE),
    Route("post", "/map", READ, 200, {"url": "https://example.com/"}, of_one=False),
]

NO_ID = "00000000-0000-0000-0000-000000000007"
NEVER = {
    **dict.fromkeys(("crawl_id", "other_id", "schedule_id", "delivery_id", "channel_id"), NO_ID),
    "page_id": 7,
    "host": "example.com",
    "token_id": 70_000,
    "export_format": "csv",
    "form": "text",
    "slug": "statuses",
    "change": "new",
}
"""What names nothing."""

ALL = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
OF_ONE = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.of_one], ids=lambda route: f"{route.method} {route.path}"
)


def things_of(owner: User) -> dict[str, Any]:
    """A crawl with a page and a notice, another, a schedule, a channel and a token; what their routes are filled in
    with."""
    crawl = a_crawl(owner, state=State.PAUSED, outcomes={"2xx": 1}, statuses={"200": 1})
    a_token(owner, Scope.CRAWLS_READ)
    page = a_page(crawl)
    PageFacts.objects.create(page_id=page.pk, crawl=crawl, kept={"text": kept_text(str(crawl.pk))})
    Frontier(queues.connection(), str(crawl.id)).ready_queue.enqueue([QueueItem(page.pk, "example.com", 0)])
    return {
        "crawl_id": crawl.id,
        "page_id": page.pk,
        "host": "example.com",
        "other_id": a_crawl(owner).id,
        "slug": "statuses",
        "change": "new",
        "form": "text",
        "delivery_id": a_delivery(crawl).id,
        "channel_id": Channel.objects.create(owner=owner, transport="email", address="me@example.com").id,
        "schedule_id": a_schedule(owner, options=crawl.options).id,
        "token_id": ApiToken.objects.filter(user=owner).latest("pk").pk,
        "export_format": "jsonl",
    }


def kept_text(crawl: str) -> list[object]:
    shelf = Shelf(crawl, "batch")
    places = shelf.put({"text": packed(b"Hello")})
    return list(named(places, shelf.clear())["text"])


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path, settings: Any) -> None:
    kept_in(tmp_path, settings)


def asked(caller: Caller, route: Route, things: dict[str, Any]) -> Any:
    return caller.ask(route.method, route.path.format(**things), route.body)


def test_a_caller_without_a_token_gets_401(by_nobody: Caller) -> None:
    for route in ROUTES:
        response = asked(by_nobody, route, NEVER)
        assert response.status_code == 401, route
        assert response["WWW-Authenticate"] == 'Bearer realm="api"'
        assert response["Content-Type"] == "application/problem+json"


def test_a_token_without_the_scope_is_refused_with_its_name(ann: User) -> None:
    without = {scope: Caller(a_token(ann, *(ALL_SCOPES - {scope}))) for scope in Scope}
    for route in ROUTES:
        response = asked(without[route.scope], route, NEVER)
        assert response.status_code == 403, route
        assert f'scope="{route.scope}"' in response["WWW-Authenticate"]


@OF_ONE
def test_items_of_others_are_not_found(by_bob: Caller, ann: User, real_redis: object, route: Route) -> None:
    things = things_of(ann)
    response = asked(by_bob, route, things)
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert Crawl.objects.get(pk=things["crawl_id"]).state == State.PAUSED


@ALL
def test_the_scope_alone_is_enough_for_the_owner(root: User, real_redis: object, route: Route) -> None:
    things = things_of(root)
    response = asked(Caller(a_token(root, route.scope)), route, things)
    assert response.status_code == route.status, response.content
    response.close()


def test_what_never_was_is_not_there(by_ann: Caller, real_redis: object) -> None:
    for route in (route for route in ROUTES if route.of_one):
        assert asked(by_ann, route, NEVER).status_code == 404, route


def test_another_method_is_not_known(by_nobody: Caller) -> None:
    for route in ROUTES:
        response = by_nobody.ask("patch", route.path.format(**NEVER))
        assert response.status_code == 405, route
        assert route.method.upper() in response["Allow"]
        assert response["Content-Type"] == "application/problem+json"


def test_a_session_may_do_it_with_the_pages_own_token_alone(ann: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann)
    for route in ROUTES:
        response = getattr(strict, route.method)(ROOT + route.path.format(**NEVER))
        assert (response.status_code == 403) == (route.method != "get"), route


def test_no_route_is_missing_here() -> None:
    """/me needs no scope; its tests are its own."""
    here = {(route.method, ROOT + route.path.partition("?")[0]) for route in ROUTES}
    document = api.get_openapi_schema()
    there = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert there - here == {("get", f"{ROOT}/me")}
    assert here <= there


@pytest.mark.django_db
def test_an_unknown_address_is_a_problem_too(by_ann: Caller) -> None:
    response = by_ann.get("/nonsense")
    assert (response.status_code, response["Content-Type"]) == (404, "application/problem+json")
