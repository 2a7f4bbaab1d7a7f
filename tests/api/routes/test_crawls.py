"""Crawls over the API: listed, started with every option, looked at, moved, deleted."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from redis import Redis

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.completion import State
from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.ready_queue import QueueItem
from crawler.models import Crawl, Page, Schedule
from tests.api.calling import Caller
from tests.factories import a_crawl, a_finished_crawl, a_page
from tests.stops import stop_host

HERE = {"start_urls": ["http://127.0.0.1:8/"], "allow_private": True}


def items_of(caller: Caller, path: str) -> list[dict[str, Any]]:
    """All of a list, page by page."""
    found: list[dict[str, Any]] = []
    following = path
    while following:
        page = caller.get(following).json()
        found += page["items"]
        following = page["next"]
    return found


def test_a_crawl_is_started_with_the_options_given(by_root: Caller, root: User, real_redis: object) -> None:
    response = by_root.post(
        "/crawls", {**HERE, "max_pages": 7, "page_timeout": 2.5, "exclude": ["/old/"], "headers": ["X-Key: secret1"]}
    )
    crawl = Crawl.objects.get()
    assert (response.status_code, response["Location"]) == (201, f"http://testserver/api/v1/crawls/{crawl.id}")
    assert (crawl.owner, crawl.state, crawl.start_urls) == (root, State.RUNNING, HERE["start_urls"])
    assert (crawl.chosen.max_pages, crawl.chosen.page_timeout, crawl.chosen.exclude) == (7, 2.5, ("/old/",))
    answer = response.json()
    assert (answer["state"], answer["options"]["max_pages"]) == ("running", 7)
    assert answer["sends"] == ["X-Key: …(7 characters)"]
    assert "secret1" not in response.content.decode()


def test_a_crawl_may_be_begun_again_and_again(by_root: Caller, real_redis: object) -> None:
    assert by_root.post("/crawls", {**HERE, "schedule": "every 6h"}).status_code == 201
    assert Crawl.objects.get().schedule == Schedule.objects.get()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/start_urls"),
        ({"start_urls": ["http://127.0.0.1:8/", 7]}, "#/start_urls/1"),
        ({"start_urls": ["http://127.0.0.1:8/"]}, "#/start_urls"),
        ({**HERE, "max_pages": 0}, "#/max_pages"),
        ({**HERE, "max_pages": 10**30}, "#/max_pages"),
        ({**HERE, "externals": "follow"}, "#/externals"),
        ({**HERE, "max_pagse": 7}, "#/max_pagse"),
        ({**HERE, "private_hosts": ["*"]}, "#/private_hosts"),
        ({**HERE, "schedule": "now and then"}, "#/schedule"),
    ],
)
def test_what_cannot_be_used_is_named_by_its_place(
    by_root: Caller, real_redis: object, body: dict[str, Any], pointer: str
) -> None:
    response = by_root.post("/crawls", body)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert not Crawl.objects.exists()


@pytest.mark.parametrize(
    "body",
    ["{", "[1", b"\xff", '{"start_urls": ["\\ud800"]}', '{"delay": NaN}', '{"start_urls": ["a\\u0000b"]}', "[" * 9999],
)
def test_a_body_that_is_no_usable_json_is_a_bad_request(by_ann: Caller, body: str | bytes) -> None:
    response = by_ann.post("/crawls", body)
    assert response.status_code == 400
    assert response.json()["detail"].startswith("The body ")


def test_a_body_that_is_too_large_is_refused(by_ann: Caller, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert by_ann.post("/crawls", {"start_urls": ["x" * 2000]}).status_code == 413


def test_only_a_superuser_allows_addresses_that_are_not_public(by_ann: Caller, real_redis: object) -> None:
    response = by_ann.post("/crawls", HERE)
    assert [error["field"] for error in response.json()["errors"]] == ["allow_private"]


def test_without_redis_nothing_is_started_and_it_may_be_tried_again(by_root: Caller) -> None:
    response = by_root.post("/crawls", HERE)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert not Crawl.objects.exists()


def test_the_list_is_the_newest_first_and_whole_whatever_its_pages(by_ann: Caller, ann: User) -> None:
    now = timezone.now()
    moments = [now, now, now, now - timedelta(hours=1), now - timedelta(hours=2)]
    crawls = [a_crawl(ann, created_at=moment) for moment in moments]
    listed = [item["id"] for item in items_of(by_ann, "/crawls?limit=2")]
    expected = sorted(crawls, key=lambda crawl: (crawl.created_at, crawl.id), reverse=True)
    assert listed == [str(crawl.id) for crawl in expected]


def test_the_list_is_filtered_by_state_and_text(by_ann: Caller, ann: User) -> None:
    a_crawl(ann)
    paused = a_crawl(ann, state=State.PAUSED, start_urls=["https://paused.example/"])
    over = a_finished_crawl(ann)
    listed = items_of(by_ann, "/crawls?state=paused&state=finished&limit=1")
    assert {item["id"] for item in listed} == {str(paused.id), str(over.id)}
    assert [item["id"] for item in items_of(by_ann, "/crawls?q=paused.ex")] == [str(paused.id)]


@pytest.mark.parametrize("cursor", ["nonsense", "MQ", "LTE", "é", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OS4xLjI"])
def test_a_cursor_that_is_none_is_said_to_be_so(by_ann: Caller, cursor: str) -> None:
    response = by_ann.get(f"/crawls?cursor={cursor}")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "cursor")


@pytest.mark.parametrize(
    ("query", "name"), [("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("state=no", "state.0")]
)
def test_a_query_that_cannot_be_used_names_its_parameter(by_ann: Caller, query: str, name: str) -> None:
    response = by_ann.get(f"/crawls?{query}")
    [error] = response.json()["errors"]
    assert (response.status_code, error["in"], error["field"]) == (422, "query", name)


def test_a_crawl_says_why_it_ended_wherever_it_is_shown(by_ann: Caller, ann: User) -> None:
    limited = {"discovered": 3, "outcomes": {"2xx": 1, "limit": 2}, "limits": {"pages": 2}}
    a_crawl(ann)
    crawl = a_finished_crawl(ann, options=CrawlOptions(max_pages=1), **limited)
    assert [item["ended"] for item in items_of(by_ann, "/crawls")] == [None, "limit"]
    whole = by_ann.get(f"/crawls/{crawl.id}").json()
    receipt = by_ann.get(f"/crawls/{crawl.id}/receipt").json()
    assert whole["ended"] == whole["receipt"]["ended"] == receipt["ended"] == "limit"
    assert receipt["limits"] == {"pages": 2}
    assert receipt["ended_message"] == "Limit reached: 1 page at most (2 pages were not requested)."


def test_a_crawl_is_moved_once_and_a_second_call_is_no_error(by_ann: Caller, ann: User, real_redis: object) -> None:
    crawl = a_crawl(ann)
    said = [by_ann.post(f"/crawls/{crawl.id}/pause").json() for _ in range(2)]
    assert [(answer["state"], answer["moved"]) for answer in said] == [("paused", True), ("paused", False)]


def test_a_crawl_that_is_over_cannot_be_moved(by_ann: Caller, ann: User, real_redis: object) -> None:
    response = by_ann.post(f"/crawls/{a_finished_crawl(ann).id}/cancel")
    assert response.status_code == 409
    assert "there is nothing to" in response.json()["detail"]


def test_a_deleted_crawl_is_gone_with_its_pages(by_ann: Caller, ann: User, real_redis: object) -> None:
    crawl = a_finished_crawl(ann, discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    a_page(crawl)
    assert by_ann.delete(f"/crawls/{crawl.id}").status_code == 204
    assert not Page.objects.exists()
    assert by_ann.get(f"/crawls/{crawl.id}").status_code == 404


@pytest.mark.parametrize(("body", "sent"), [(None, 2), ({}, 2), ({"pages": []}, 0), ({"pages": ["first"]}, 1)])
def test_dead_letters_are_sent_again_all_or_those_named(
    by_ann: Caller, ann: User, real_redis: object, body: dict[str, Any] | None, sent: int
) -> None:
    crawl = a_finished_crawl(ann, discovered=2, outcomes={"timeout": 2}, statuses={})
    letters = [a_page(crawl, f"https://example.com/{n}", Outcome.TIMEOUT, given_up=True) for n in range(2)]
    named = json.loads(json.dumps(body).replace('"first"', str(letters[0].pk)))
    assert by_ann.post(f"/crawls/{crawl.id}/retry-failed", named).json()["sent"] == sent


def test_the_wait_for_a_host_is_ended_and_a_second_call_is_no_error(
    by_ann: Caller, ann: User, real_redis: Redis
) -> None:
    crawl = a_crawl(ann)
    Frontier(real_redis, str(crawl.id)).ready_queue.enqueue([QueueItem(1, "example.com:8080", 0)])
    stop_host(real_redis, "example.com:8080", 3600, time.time())
    path = f"/crawls/{crawl.id}/hosts/example.com:8080/forget"
    assert by_ann.get(f"/crawls/{crawl.id}/why").json()["hosts"]["shown"][0]["reason"] == "stop"
    first, second = by_ann.post(path).json(), by_ann.post(path).json()
    assert (first["had_to_wait"], first["crawls"]) == (True, 1)
    assert (second["had_to_wait"], second["message"]) == (False, "No wait for example.com:8080 can be ended.")
    assert not real_redis.hexists(keys.host("example.com:8080"), "until")


def test_a_host_the_crawl_does_not_wait_for_is_not_there(by_ann: Caller, ann: User, real_redis: Redis) -> None:
    stop_host(real_redis, "example.com", 3600, time.time())
    response = by_ann.post(f"/crawls/{a_crawl(ann).id}/hosts/example.com/forget")
    assert (response.status_code, response.json()["detail"]) == (404, "This crawl does not wait for example.com.")
    assert real_redis.hexists(keys.host("example.com"), "until")


def test_another_owners_crawl_that_uses_the_connections_is_not_named(
    by_ann: Caller, ann: User, bob: User, real_redis: Redis
) -> None:
    crawl, bobs = a_crawl(ann), a_crawl(bob, start_urls=["https://secret.test/"])
    Frontier(real_redis, str(crawl.id)).ready_queue.enqueue([QueueItem(1, "example.com", 0)])
    HostLimiter(real_redis, 10).take_slot("example.com", f"{bobs.id}:b:0", HostPolicy(str(bobs.id)), time.time())
    told = by_ann.get(f"/crawls/{crawl.id}/why")
    [host] = told.json()["hosts"]["shown"]
    assert host["used_by"] == [{"by": "another crawl", "connections": 1, "crawl": None}]
    assert "secret.test" not in told.content.decode()


@pytest.mark.parametrize("path", ["/crawls?q=%00", "/crawls/a%00b"])
def test_a_nul_in_the_address_is_a_bad_request(by_ann: Caller, path: str) -> None:
    assert by_ann.get(path).status_code == 400
