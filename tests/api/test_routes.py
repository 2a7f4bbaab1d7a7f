"""Every route as nobody, as somebody else, with a token that lacks its scope, and as the owner."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.api.v1 import api
from crawler.core.access.permissions import ALL_SCOPES, Scope
from crawler.core.protocol.completion import State
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import QueueItem
from crawler.models import ApiToken, Channel, PageFacts
from crawler.queueing import queues
from tests.api.calling import ROOT, Caller, a_token
from tests.content_storages import kept_in
from tests.factories import a_crawl, a_delivery, a_page, kept_text, undone
from tests.routes import API, ApiRoute
from tests.web.crawl.test_schedules import a_schedule

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


def things_of(owner: User) -> dict[str, Any]:
    """A crawl with a page and a notice, another, a schedule, a channel and a token; what their routes are filled in
    with."""
    crawl = a_crawl(owner, state=State.PAUSED, outcomes={"2xx": 1}, statuses={"200": 1})
    a_token(owner, Scope.CRAWLS_READ)
    page = a_page(crawl)
    PageFacts.objects.create(page_id=page.pk, crawl=crawl, kept={"text": kept_text(str(crawl.pk))})
    queue_page(crawl.id, page.pk)
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


def queue_page(crawl: UUID, page: int) -> None:
    """All that Redis knows of the crawl: this page waits for its host."""
    redis = queues.connection()
    redis.flushall()
    Frontier(redis, str(crawl)).ready_queue.enqueue([QueueItem(page, "example.com", 0)])


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path, settings: Any) -> None:
    kept_in(tmp_path, settings)


def asked(caller: Caller, route: ApiRoute, things: dict[str, Any]) -> Any:
    return caller.ask(route.method, route.path.format(**things), route.body)


def test_a_caller_without_a_token_gets_401(by_nobody: Caller) -> None:
    for route in API:
        response = asked(by_nobody, route, NEVER)
        assert response.status_code == 401, route
        assert response["WWW-Authenticate"] == 'Bearer realm="api"'
        assert response["Content-Type"] == "application/problem+json"


def test_a_token_without_the_scope_is_refused_with_its_name(ann: User) -> None:
    without = {scope: Caller(a_token(ann, *(ALL_SCOPES - {scope}))) for scope in Scope}
    for route in API:
        response = asked(without[route.scope], route, NEVER)
        assert response.status_code == 403, route
        assert f'scope="{route.scope}"' in response["WWW-Authenticate"]


def test_the_scope_alone_is_enough_for_the_owner(root: User, real_redis: object) -> None:
    things = things_of(root)
    with ExitStack() as ending:  # a response that is closed takes the connection of the database with it
        for route in API:
            queue_page(things["crawl_id"], things["page_id"])
            with undone():
                response = asked(Caller(a_token(root, route.scope)), route, things)
                ending.callback(response.close)
                assert response.status_code == route.status, route


def test_what_never_was_is_not_there(by_ann: Caller, real_redis: object) -> None:
    for route in (route for route in API if route.of_one):
        assert asked(by_ann, route, NEVER).status_code == 404, route


def test_another_method_is_not_known(by_nobody: Caller) -> None:
    changed = {route.path for route in API if route.method == "patch"}
    for route in API:
        response = by_nobody.ask("put" if route.path in changed else "patch", route.path.format(**NEVER))
        assert response.status_code == 405, route
        assert route.method.upper() in response["Allow"]
        assert response["Content-Type"] == "application/problem+json"


def test_a_session_may_do_it_with_the_pages_own_token_alone(ann: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann)
    for route in API:
        response = getattr(strict, route.method)(ROOT + route.path.format(**NEVER))
        assert (response.status_code == 403) == (route.method != "get"), route


def test_no_route_is_missing_here() -> None:
    """/me needs no scope; its tests are its own."""
    here = {(route.method, ROOT + route.path.partition("?")[0]) for route in API}
    document = api.get_openapi_schema()
    there = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert there - here == {("get", f"{ROOT}/me")}
    assert here <= there
