"""Channels and notices over the API: whom a person has told, what came of it, and no secret given out again."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.accounts.slow_calls import slow_call
from crawler.encryption import opened_address, seal_address
from crawler.models import Channel, Delivery
from crawler.notices.webhook_secrets import secrets_for
from tests.api.calling import Caller
from tests.api.routes.test_crawls import items_of
from tests.factories import a_delivery, a_finished_crawl

SECRET = "https://hooks.slack.com/services/T000/B000/swordfish"
MAIL = {"transport": "email", "address": "me@example.com", "events": ["finished"], "name": "me"}


def a_channel(owner: User, **fields: Any) -> Channel:
    return Channel.objects.create(owner=owner, **{"transport": "slack", "address": seal_address(SECRET), **fields})


def test_a_channel_is_added_and_shown(by_ann: Caller, ann: User) -> None:
    response = by_ann.post("/channels", MAIL)
    channel = Channel.objects.get()
    assert (response.status_code, response["Location"]) == (201, f"http://testserver/api/v1/channels/{channel.id}")
    assert (channel.owner, channel.address, channel.events) == (ann, "me@example.com", ["crawl.finished"])
    assert response.json()["secret"] is None  # of webhooks alone
    shown = {name: value for name, value in response.json().items() if name != "secret"}
    assert by_ann.get(f"/channels/{channel.id}").json() == shown
    assert by_ann.get("/channels").json()["items"] == [shown]


def test_a_secret_is_in_the_response_that_makes_it_alone(by_ann: Caller, ann: User, settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]
    address = "http://127.0.0.1:8/hook"
    made = by_ann.post("/channels", {"transport": "webhook", "address": address}).json()
    assert secrets_for("webhook", ann.pk, address) == (made["secret"],)
    assert "secret" not in by_ann.get(f"/channels/{made['id']}").json()
    again = by_ann.post(f"/channels/{made['id']}/secret").json()
    assert secrets_for("webhook", ann.pk, address) == (again["secret"], made["secret"])


def test_the_webhook_of_a_crawl_gets_a_secret_of_its_own(by_ann: Caller, ann: User) -> None:
    made = by_ann.post("/webhook-secrets", {"address": "https://example.com/hook"}).json()
    assert secrets_for("webhook", ann.pk, "https://example.com/hook") == (made["secret"],)


def test_a_channel_is_added_once(by_ann: Caller) -> None:
    answers = [by_ann.post("/channels", MAIL, Idempotency_Key="k-1").json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert Channel.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"transport": "pigeon"}, "transport"),
        ({"address": "nobody"}, "address"),
        ({"events": ["moon"]}, "events"),
        ({"events": ["page"]}, "events"),
        ({"enabled": True}, "enabled"),
        ({"transport": "webhook", "address": "http://127.0.0.1/hook"}, "address"),
        ({"transport": "slack", "address": "sealed:x"}, "address"),
    ],
)
def test_what_cannot_be_used_is_named(by_ann: Caller, changed: dict[str, Any], field: str) -> None:
    response = by_ann.post("/channels", {**MAIL, **changed})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert not Channel.objects.exists()


def test_no_answer_has_a_secret_address(by_ann: Caller, ann: User, real_redis: object) -> None:
    channel = a_channel(ann)
    crawl = a_finished_crawl(ann)
    delivery = a_delivery(crawl, channel.address, Delivery.GIVEN_UP, channel=channel, error=f"{SECRET} is away")
    Delivery.objects.update(transport="slack")
    wanted = {"transport": "slack", "name": "other", "address": SECRET}
    answers = [
        by_ann.get("/channels"),
        by_ann.get(f"/channels/{channel.id}"),
        by_ann.put(f"/channels/{channel.id}", {**wanted, "address": ""}),
        by_ann.post(f"/channels/{channel.id}/pause"),
        by_ann.post("/channels", {**wanted, "events": ["moon"]}),
        by_ann.post("/channels", {**wanted, "transport": "email"}),
        by_ann.post("/channels", {**wanted, "transport": "webhook"}),
        by_ann.get(f"/crawls/{crawl.id}/notices"),
        by_ann.post(f"/crawls/{crawl.id}/notices/{delivery.id}/again"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 422, 422, 422, 200, 200]
    said = [json.dumps(answer.json(), ensure_ascii=False) for answer in answers]
    assert "https://hooks.slack.com/…" in said[0]
    assert [place for place, text in enumerate(said) if "sealed:" in text or "swordfish" in text] == [5]  # as typed


def test_a_changed_channel_keeps_the_address_that_is_left_out(by_ann: Caller, ann: User) -> None:
    channel = a_channel(ann)
    by_ann.put(f"/channels/{channel.id}", {"transport": "slack", "name": "new", "events": ["started"]})
    channel.refresh_from_db()
    assert (channel.name, channel.events) == ("new", ["crawl.started"])
    assert opened_address(channel.address) == SECRET


def test_a_channel_is_paused_resumed_and_removed(by_ann: Caller, ann: User) -> None:
    path = f"/channels/{a_channel(ann).id}"
    moves = [by_ann.post(f"{path}/{move}").json() for move in ("pause", "pause", "resume")]
    assert [(answer["enabled"], answer["moved"]) for answer in moves] == [(False, True), (False, False), (True, True)]
    assert by_ann.delete(path).status_code == 204
    assert by_ann.get(path).status_code == 404


def test_a_test_says_what_came_back_once_in_ten_seconds(by_ann: Caller, ann: User) -> None:
    path = f"/channels/{a_channel(ann, transport='email', address='me@example.com').id}/test"
    first, second = by_ann.post(path).json(), by_ann.post(path).json()
    assert (first["arrived"], second["arrived"]) == (True, False)
    assert "ten seconds" in second["message"]


def test_deliveries_are_listed_the_newest_first(by_ann: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    made = [a_delivery(crawl, f"{name}@example.com") for name in "abc"]
    listed = items_of(by_ann, f"/crawls/{crawl.id}/notices?limit=1")
    assert [line["id"] for line in listed] == [str(delivery.id) for delivery in reversed(made)]
    assert (listed[0]["address"], listed[0]["state"]) == ("c@example.com", "pending")


def test_others_see_the_addresses_masked(by_root: Caller, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    a_delivery(crawl, error="me@example.com is unknown here")
    response = by_root.get(f"/crawls/{crawl.id}/notices")
    [line] = response.json()["items"]
    assert line["address"] == "m…@example.com"
    assert line["error"] == "m…@example.com is unknown here"


def test_a_notice_is_sent_again(by_ann: Caller, ann: User, real_redis: object) -> None:
    crawl = a_finished_crawl(ann)
    delivery = a_delivery(crawl, state=Delivery.GIVEN_UP)
    assert by_ann.post(f"/crawls/{crawl.id}/notices/{delivery.id}/again").json()["message"]
    assert list(Delivery.objects.order_by("created_at").values_list("again", flat=True)) == [False, True]


@pytest.mark.parametrize("path", ["/channels/{id}/test", "/extraction/preview"])
def test_a_user_waits_for_one_other_server_at_a_time(by_ann: Caller, ann: User, path: str) -> None:
    channel = Channel.objects.create(owner=ann, transport="email", address="ann@example.com")
    body = {"try_url": "https://example.com/", "fields": [{"name": "a", "selector": "b"}]}
    with slow_call(ann.pk):
        response = by_ann.post(path.format(id=channel.id), body)
    assert (response.status_code, response["Retry-After"]) == (429, "5")
    assert response["Content-Type"] == "application/problem+json"
    assert "Wait until it is done" in response.json()["detail"]
