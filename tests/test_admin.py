"""The admin shows every table and changes none."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from crawler.models import Disagreement, Schedule
from tests.web.factories import SITE, a_delivery, a_finished_crawl, a_page

TABLES = ["crawl", "schedule", "page", "notice", "delivery", "disagreement"]


@pytest.fixture
def staff(db: None) -> Client:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    return browser


@pytest.fixture
def ids(staff: Client) -> dict[str, object]:
    """A row in every table: the table's name to the row's key."""
    crawl = a_finished_crawl()
    delivery = a_delivery(crawl)
    return {
        "crawl": crawl.pk,
        "schedule": Schedule.objects.create(start_urls=[SITE], rule="every 6h", next_at=timezone.now()).pk,
        "page": a_page(crawl).pk,
        "notice": delivery.notice_id,
        "delivery": delivery.pk,
        "disagreement": Disagreement.objects.create(crawl=crawl, what="table: 1 open, queue: empty").pk,
    }


@pytest.mark.parametrize("table", TABLES)
def test_staff_can_list_search_and_read(staff: Client, ids: dict[str, object], table: str) -> None:
    assert staff.get(f"/admin/crawler/{table}/").status_code == 200
    assert staff.get(f"/admin/crawler/{table}/?q=example").status_code == 200
    assert staff.get(f"/admin/crawler/{table}/{ids[table]}/change/").status_code == 200


@pytest.mark.parametrize("table", TABLES)
def test_nobody_can_add_change_or_delete(staff: Client, ids: dict[str, object], table: str) -> None:
    assert staff.get(f"/admin/crawler/{table}/add/").status_code == 403
    assert staff.post(f"/admin/crawler/{table}/{ids[table]}/change/", {}).status_code == 403
    assert staff.post(f"/admin/crawler/{table}/{ids[table]}/delete/", {"post": "yes"}).status_code == 403


def test_a_crawl_leads_to_its_page(staff: Client, ids: dict[str, object]) -> None:
    assert f"/crawls/{ids['crawl']}/" in staff.get(f"/admin/crawler/crawl/{ids['crawl']}/change/").content.decode()
