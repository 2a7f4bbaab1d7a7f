"""Pages are added to a crawl by the API, and requested again."""

import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from redis import Redis

from crawler import clock
from crawler.core.access.credentials import parse
from crawler.core.protocol.completion import State
from crawler.encryption import opened
from crawler.models import AuditEntry, Crawl, Page
from tests.api.calling import Caller
from tests.factories import a_crawl_that_logs_in, a_crawl_with_a_queue, a_finished_crawl, a_group, a_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

SITE = "https://example.com/"


@pytest.fixture
def crawl(ann: User) -> Crawl:
    made = a_finished_crawl(ann, discovered=2, outcomes={"2xx": 1, "4xx": 1}, statuses={"200": 1, "404": 1})
    a_page(made)
    a_page(made, f"{SITE}gone", 404)
    return made


def added(caller: Caller, crawl: Crawl, *urls: str, **more: Any) -> Any:
    return caller.ask("post", f"/crawls/{crawl.id}/urls", {"urls": [f"{SITE}{url}" for url in urls], **more})


def open_urls() -> list[str]:
    rows = Page.objects.filter(status=Page.OPEN).order_by("id")
    return [url.removeprefix(SITE) for url in rows.values_list("url", flat=True)]


def test_pages_are_added_and_the_crawl_runs_again(by_ann: Caller, crawl: Crawl) -> None:
    told = added(by_ann, crawl, "new", "gone").json()
    assert (told["added"], told["closed"], told["reopened"]) == (1, 1, True)
    assert told["message"].startswith("1 page added; 1 page already closed")
    crawl.refresh_from_db()
    assert (crawl.state, open_urls()) == (State.RUNNING, ["new"])
    assert AuditEntry.objects.get(act="crawl.added_to").after == {"added": 1, "moved": 0, "again": 0}


def test_a_page_may_have_values_of_its_own(by_ann: Caller, crawl: Crawl, real_redis: Redis) -> None:
    later = time.time() + 3600
    items = [
        {"url": f"{SITE}a", "priority": 9, "ttl": "30m", "customer": 4711, "vip": True},
        {"url": f"{SITE}b", "not_before": later},
        f"{SITE}c",
        {"url": f"{SITE}bad", "priority": 11},
        {"url": f"{SITE}a", "priority": 1},  # of two the first counts
    ]
    told = by_ann.ask("post", f"/crawls/{crawl.id}/urls", {"urls": items, "priority": 2}).json()
    assert (told["added"], told["refused"]) == (3, 1)
    assert told["reasons"][0]["url"] == f"{SITE}bad"
    assert told["reasons"][0]["why"].startswith("'11' is not a valid priority")
    rows = {row.url.removeprefix(SITE): row for row in Page.objects.filter(status=Page.OPEN)}
    assert {path: (row.priority, row.not_before, row.meta) for path, row in rows.items()} == {
        "a": (9, None, {"customer": 4711, "vip": True}),
        "b": (2, pytest.approx(later), None),
        "c": (2, None, None),
    }
    assert rows["a"].expires_at == pytest.approx(time.time() + 1800, abs=60)


def test_the_first_refused_urls_are_named(by_ann: Caller, crawl: Crawl) -> None:
    urls = [f"https://other.example/{number}" for number in range(12)]
    told = by_ann.ask("post", f"/crawls/{crawl.id}/urls", {"urls": urls}).json()
    assert (told["refused"], len(told["reasons"])) == (12, 10)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"priority": 11}, "priority"),
        ({"delay": 5, "not_before": "2026-12-01T08:00:00Z"}, "not_before"),
        ({"not_before": "2026-12-01T08:00:00"}, "not_before"),
        ({"urls": [{"priority": 9}]}, "urls.0.url"),
        ({"urls": [7]}, "urls.0"),
        ({"urls": ["https://example.com/"] * 10_001}, "urls"),
    ],
)
def test_what_cannot_be_used_is_named(by_ann: Caller, crawl: Crawl, more: dict[str, Any], field: str) -> None:
    response = added(by_ann, crawl, "new", **more)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field
    assert open_urls() == []


def test_pages_are_requested_again_by_id_or_filter(by_ann: Caller, crawl: Crawl) -> None:
    by_id = by_ann.ask("post", f"/crawls/{crawl.id}/again", {"pages": [Page.objects.get(url=SITE).pk]})
    by_filter = by_ann.ask("post", f"/crawls/{crawl.id}/again?status=4xx", {})
    assert (by_id.json()["again"], by_filter.json()["again"]) == (1, 1)
    assert open_urls() == ["", "gone"]


@pytest.mark.parametrize(("query", "body"), [("", {}), ("?status=4xx", {"all": True}), ("?q=a", {"pages": [1]})])
def test_without_a_clear_choice_nothing_is_requested_again(
    by_ann: Caller, crawl: Crawl, query: str, body: dict[str, Any]
) -> None:
    assert by_ann.ask("post", f"/crawls/{crawl.id}/again{query}", body).status_code == 422
    assert open_urls() == []


def test_options_are_changed_and_told(by_ann: Caller, crawl: Crawl) -> None:
    told = by_ann.ask("patch", f"/crawls/{crawl.id}", {"delay": 2, "max_pages": 5}).json()
    assert told["before"] == {"max_pages": None, "delay": 0.0}
    assert told["after"] == {"max_pages": 5, "delay": 2.0}
    by_ann.ask("patch", f"/crawls/{crawl.id}", {"max_pages": None})
    crawl.refresh_from_db()
    assert (crawl.chosen.delay, crawl.chosen.max_pages) == (2.0, None)


@pytest.mark.parametrize(
    ("body", "field"), [({"delay": 1, "concurrency": 99}, "concurrency"), ({"max_depth": 2}, "max_depth")]
)
def test_a_change_that_cannot_be_used_is_named(by_ann: Caller, crawl: Crawl, body: dict[str, Any], field: str) -> None:
    response = by_ann.ask("patch", f"/crawls/{crawl.id}", body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field
    crawl.refresh_from_db()
    assert crawl.chosen.delay == 0.0


def test_the_fields_of_a_log_in_are_replaced_and_told_by_their_number(by_ann: Caller, ann: User) -> None:
    crawl = a_crawl_that_logs_in(ann)
    typed = ["user=ann", "password=swordfish-3"]
    response = by_ann.ask("patch", f"/crawls/{crawl.id}", {"login_fields": typed, "login_check": "a.me"})
    assert response.json()["after"] == {"login_check": "a.me", "login_fields": 2}
    assert "swordfish" not in response.content.decode()
    crawl.refresh_from_db()
    assert opened(crawl.sealed) == parse(headers=["X-Key: swordfish-1"], login_fields=typed)


@pytest.mark.parametrize("fields", [["swordfish-3"], [], None, "password=swordfish-3", [{"password": "swordfish-3"}]])
def test_fields_of_a_log_in_that_cannot_be_used_are_not_repeated(by_ann: Caller, ann: User, fields: Any) -> None:
    crawl = a_crawl_that_logs_in(ann)
    response = by_ann.ask("patch", f"/crawls/{crawl.id}", {"login_fields": fields})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"].startswith("login_fields")
    assert "swordfish" not in response.content.decode()
    assert Crawl.objects.get(pk=crawl.pk).sealed == crawl.sealed


def test_a_member_who_may_control_it_does_not_change_its_password(
    by_bob: Caller, by_root: Caller, ann: User, bob: User
) -> None:
    crawl = a_crawl_that_logs_in(ann, group=a_group("editors", ann, bob), group_controls=True)
    path = f"/crawls/{crawl.id}"
    for other in (by_bob, by_root):
        assert other.ask("patch", path, {"login_fields": ["user=bob"]}).status_code == 403
        assert other.ask("patch", path, {"notify_emails": ["bob@example.com"]}).status_code == 403
    assert by_bob.ask("patch", path, {"login_check": "a.me"}).status_code == 200
    assert len(opened(Crawl.objects.get(pk=crawl.pk).sealed).login_fields) == 2


def test_the_figures_of_the_queue_are_those_of_its_rows(
    by_ann: Caller, ann: User, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(clock, "epoch_seconds", lambda: now)
    crawl = a_crawl_with_a_queue(real_redis, now, ann)
    assert by_ann.ask("get", f"/crawls/{crawl.id}/queue").json() == {
        "open": 3,
        "dead_letters": 2,
        "oldest_due_seconds": 90.0,
        "per_minute": {
            "last_minute": {"pages_in": 300.0, "pages_out": 90.0, "retried": 3.0, "dead": 1.0},
            "last_five_minutes": {"pages_in": 120.0, "pages_out": 48.0, "retried": 1.6, "dead": 0.4},
        },
    }


def test_of_a_crawl_that_is_over_there_are_no_rates(by_ann: Caller, crawl: Crawl) -> None:
    told = by_ann.ask("get", f"/crawls/{crawl.id}/queue").json()
    assert (told["open"], told["oldest_due_seconds"]) == (0, None)
    assert told["per_minute"] == {"last_minute": None, "last_five_minutes": None}
