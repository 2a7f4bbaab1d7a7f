"""Schedules on the web: made with the form of a crawl, listed on a page of their own, seen on their runs' pages."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from crawler.core.protocol.completion import State
from crawler.models import Crawl, Schedule
from tests.factories import SITE, a_crawl, a_finished_crawl, a_group, a_page, a_person

NEXT = datetime(2030, 5, 6, 7, 8, tzinfo=UTC)


def a_schedule(owner: User | None, **fields: Any) -> Schedule:
    values = {"start_urls": [SITE], "rule": "every 6h", "next_at": NEXT} | fields
    return Schedule.objects.create(owner=owner, **values)


@pytest.mark.usefixtures("real_redis")
def test_a_crawl_that_is_to_be_repeated_begins_at_once(as_root: Client, root: User) -> None:
    typed = {"start_urls": "http://127.0.0.1:8/", "allow_private": "on", "schedule": "every 6h", "revisit": "on"}
    response = as_root.post("/crawls/", typed)
    crawl = Crawl.objects.get()
    assert response["Location"] == f"/crawls/{crawl.id}/"
    schedule = Schedule.objects.get()
    assert (crawl.schedule, schedule.owner, schedule.rule) == (schedule, root, "every 6h")
    assert crawl.chosen.revisit


@pytest.mark.parametrize("rule", ["0 0 30 2 *", "now and then"])
@pytest.mark.usefixtures("real_redis")
def test_a_rule_that_cannot_be_used_is_told_beside_its_field(as_root: Client, rule: str) -> None:
    response = as_root.post("/crawls/", {"start_urls": "http://127.0.0.1:8/", "allow_private": "on", "schedule": rule})
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {"schedule"}
    assert rule in response.content.decode()
    assert not Schedule.objects.exists()
    assert not Crawl.objects.exists()


def test_ones_own_are_listed_the_next_one_first(as_ann: Client, ann: User) -> None:
    a_schedule(ann, rule="every 7h", next_at=NEXT + timedelta(days=1))
    a_schedule(ann, enabled=False, rule="every 8h", next_at=NEXT - timedelta(days=1))
    soon = a_schedule(ann, last_error="There is no host named example.com.")
    a_schedule(a_person("bob"), rule="every 9h")
    run = a_finished_crawl(ann, schedule=soon)
    response = as_ann.get("/schedules/")
    assert [row["schedule"].rule for row in response.context["rows"]] == ["every 6h", "every 7h", "every 8h"]
    html = response.content.decode()
    assert "6 May 2030, 07:08" in html
    assert f'href="/crawls/{run.id}/"' in html
    assert "There is no host named example.com." in html


def test_one_is_paused_resumed_and_removed(as_ann: Client, ann: User) -> None:
    schedule = a_schedule(ann)
    run = a_finished_crawl(ann, schedule=schedule)
    said = []
    for verb in ("pause", "pause", "resume", "remove", "remove"):
        response = as_ann.post(f"/schedules/{schedule.id}/{verb}", follow=True)
        assert response.redirect_chain == [("/schedules/", 302)]
        said.append(next(iter(response.context["messages"])).level_tag)
    assert said == ["success", "warning", "success", "success", "success"]
    run.refresh_from_db()
    assert run.schedule is None


def test_a_runs_page_leads_to_the_runs_before_and_after_it(as_ann: Client, ann: User) -> None:
    schedule = a_schedule(ann)
    first = a_finished_crawl(ann, schedule=schedule)
    second = a_finished_crawl(ann, schedule=schedule, previous=first, created_at=timezone.now() - timedelta(hours=1))
    third = a_crawl(ann, schedule=schedule, previous=second, state=State.RUNNING)
    a_page(first, f"{SITE}old")
    a_page(second, f"{SITE}new")
    html = as_ann.get(f"/crawls/{second.id}/").content.decode()
    assert f'<a href="/crawls/{first.id}/" rel="prev">' in html
    assert f'<a href="/crawls/{third.id}/" rel="next">' in html
    assert "Since then: 1 new, 1 gone" in html
    assert "next on" in html
    assert "6 May 2030, 07:08 UTC" in html


def test_a_run_that_is_shared_by_itself_tells_nothing_of_the_others(as_ann: Client, ann: User) -> None:
    bob = a_person("bob")
    schedule = a_schedule(bob)
    first = a_finished_crawl(bob, schedule=schedule)
    second = a_finished_crawl(bob, schedule=schedule, previous=first, group=a_group("editors", ann))
    a_crawl(bob, schedule=schedule, previous=second)
    assert 'id="runs"' not in as_ann.get(f"/crawls/{second.id}/").content.decode()
