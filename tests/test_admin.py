"""The admin shows every table; it changes accounts, groups and allowances, and nothing else."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crawler import admin
from crawler.models import Allowance, Channel, Disagreement, Page, Schedule, Trap, Usage
from crawler.sealing import seal_address
from tests.web.factories import SITE, a_delivery, a_finished_crawl, a_page, a_person

TABLES = ["crawl", "schedule", "page", "trap", "notice", "delivery", "channel", "disagreement", "usage"]


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
        "trap": Trap.objects.create(crawl=crawl, key=b"0" * 16, reason="calendar", pattern="/*/*").pk,
        "usage": Usage.objects.create(user=User.objects.get(), day=timezone.now().date(), pages=5).pk,
        "notice": delivery.notice_id,
        "delivery": delivery.pk,
        "channel": Channel.objects.create(
            owner=User.objects.get(), transport="slack", address=seal_address("https://hooks.slack.com/services/secret")
        ).pk,
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


@pytest.mark.parametrize("table", TABLES)
def test_staff_without_any_permission_may_look_too(ids: dict[str, object], table: str) -> None:
    browser = Client()
    browser.force_login(User.objects.create_user("helper", is_staff=True))
    assert browser.get(f"/admin/crawler/{table}/{ids[table]}/change/").status_code == 200
    assert browser.get("/admin/auth/user/").status_code == 403


def test_of_a_long_table_no_more_rows_are_counted_than_matter(
    staff: Client, ids: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "COUNTED", 10)
    crawl = Page.objects.get().crawl
    for number in range(20):
        a_page(crawl, f"https://example.com/{number}")
    with CaptureQueriesContext(connection) as seen:
        text = staff.get("/admin/crawler/page/").content.decode()
    assert "11 pages" in text
    assert [query["sql"] for query in seen if "COUNT" in query["sql"] and "LIMIT 11" not in query["sql"]] == []


def test_an_allowance_is_given_with_the_account(staff: Client) -> None:
    ann = a_person("ann")
    typed = {
        "username": "ann",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00",
        "is_active": "on",
        "allowance-TOTAL_FORMS": 1,
        "allowance-INITIAL_FORMS": 0,
        "allowance-0-user": ann.pk,
        "allowance-0-pages_a_day": 500,
    }
    assert staff.post(f"/admin/auth/user/{ann.pk}/change/", typed).status_code == 302
    allowance = Allowance.objects.get()
    assert (allowance.user, allowance.active_crawls, allowance.pages_a_day) == (ann, None, 500)


def invitations(browser: Client, *accounts: User) -> str:
    typed = {"action": "invite", "_selected_action": [account.pk for account in accounts]}
    return browser.post("/admin/auth/user/", typed, follow=True).content.decode()


def test_a_superuser_makes_invitation_links(staff: Client) -> None:
    new = User.objects.create(username="new@example.com")
    new.set_unusable_password()
    new.save()
    text = invitations(staff, new, a_person("ann"))
    assert re.search(
        r"For new@example\.com, once, within three days: http://127\.0\.0\.1:8000/invitation/\w+/[\w-]+/", text
    )
    assert "Ann has a password already" in text


def test_who_may_change_accounts_and_is_no_superuser_makes_none(db: None) -> None:
    """The link of a superuser's account would make them one."""
    helper = User.objects.create_user("helper", is_staff=True)
    helper.user_permissions.add(*Permission.objects.filter(codename__in=["change_user", "view_user"]))
    root = User.objects.create_superuser("root")
    browser = Client()
    browser.force_login(helper)
    assert "/invitation/" not in invitations(browser, root)


@pytest.mark.parametrize("table", ["channel", "delivery"])
def test_an_address_that_is_a_secret_is_not_shown(staff: Client, ids: dict[str, object], table: str) -> None:
    assert "hooks.slack.com" not in staff.get(f"/admin/crawler/{table}/{ids[table]}/change/").content.decode()
