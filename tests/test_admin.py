"""The admin shows every table; it changes accounts, groups and allowances, deletes crawls, and nothing else."""

import html
import re
from typing import Any

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crawler import admin
from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import seal_address
from crawler.models import (
    Allowance,
    ApiToken,
    AuditEntry,
    Channel,
    Crawl,
    Delivery,
    Disagreement,
    Page,
    Schedule,
    Trap,
    Usage,
)
from tests.factories import SITE, a_crawl, a_delivery, a_finished_crawl, a_page, a_person
from tests.web.conftest import NOWHERE

django_admin.autodiscover()  # as the URLconf does
REGISTERED = django_admin.site._registry
TABLES = sorted(model._meta.model_name or "" for model in REGISTERED if model._meta.app_label == "crawler")
OF_STAFF = [table for table in TABLES if table != "auditentry"]


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
        "apitoken": ApiToken.objects.create(user=User.objects.get(), name="script", digest="0" * 64, shown="sc_0").pk,
        "auditentry": AuditEntry.objects.values_list("pk", flat=True)[0],  # that the account was made
        "disagreement": Disagreement.objects.create(crawl=crawl, what="table: 1 open, queue: empty").pk,
    }


@pytest.mark.parametrize("table", TABLES)
def test_staff_can_list_search_and_read(staff: Client, ids: dict[str, object], table: str) -> None:
    assert staff.get(f"/admin/crawler/{table}/").status_code == 200
    assert staff.get(f"/admin/crawler/{table}/?q=example").status_code == 200
    assert staff.get(f"/admin/crawler/{table}/{ids[table]}/change/").status_code == 200


HIDDEN = [(model, field) for model, shown in REGISTERED.items() for field in shown.exclude or ()]


@pytest.mark.parametrize(("model", "field"), HIDDEN, ids=lambda part: getattr(part, "__name__", part))
def test_what_is_not_shown_is_not_found_out_by_filtering(staff: Client, model: type[Model], field: str) -> None:
    listed = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for lookup in ("", "__startswith", "__notify_emails__icontains"):
        assert staff.get(f"{listed}?{field}{lookup}=x").status_code == 400, lookup


def test_what_is_shown_can_be_filtered_by(staff: Client, ids: dict[str, object]) -> None:
    assert "1 delivery" in staff.get("/admin/crawler/delivery/?state__exact=pending").content.decode()


@pytest.mark.parametrize("table", TABLES)
def test_nobody_can_add_or_change_and_only_crawls_can_be_deleted(
    staff: Client, ids: dict[str, object], table: str
) -> None:
    assert staff.get(f"/admin/crawler/{table}/add/").status_code == 403
    assert staff.post(f"/admin/crawler/{table}/{ids[table]}/change/", {}).status_code == 403
    if table != "crawl":
        assert staff.post(f"/admin/crawler/{table}/{ids[table]}/delete/", {"post": "yes"}).status_code == 403


def deletion(*rows: Any, **more: str) -> dict[str, Any]:
    return {"action": "delete_selected", "_selected_action": [row.pk for row in rows], **more}


@pytest.mark.parametrize("way", ["one", "many"])
def test_before_a_crawl_is_deleted_it_is_told_what_goes_with_it(staff: Client, way: str) -> None:
    crawl = a_finished_crawl(discovered=1170)
    with CaptureQueriesContext(connection) as seen:
        if way == "one":
            answer = staff.get(f"/admin/crawler/crawl/{crawl.pk}/delete/")
        else:
            answer = staff.post("/admin/crawler/crawl/", deletion(crawl))
    assert "example.com (finished): 1,170 pages, its notices, its stored content" in answer.content.decode()
    assert [query["sql"] for query in seen if "crawler_page" in query["sql"]] == []


def test_while_redis_is_away_a_crawl_stays_and_it_is_said(staff: Client, settings: Any) -> None:
    settings.REDIS_URL = NOWHERE
    crawl = a_finished_crawl()
    answer = staff.post(f"/admin/crawler/crawl/{crawl.pk}/delete/", {"post": "yes"}, follow=True)
    text = answer.content.decode()
    assert "Redis or the content storage does not answer" in text
    assert "Successfully" not in text
    assert Crawl.objects.filter(pk=crawl.pk).exists()
    assert not AuditEntry.objects.filter(act="crawl.deleted").exists()


def test_staff_delete_no_crawl(ids: dict[str, object]) -> None:
    browser = a_helper("delete_crawl")
    assert browser.post(f"/admin/crawler/crawl/{ids['crawl']}/delete/", {"post": "yes"}).status_code == 403
    assert "delete_selected" not in browser.get("/admin/crawler/crawl/").content.decode()


def a_busy_person() -> User:
    """Somebody with all that can belong to a person, and two crawls, of which one runs."""
    ann = a_person("ann")
    Usage.objects.create(user=ann, day=timezone.now().date(), pages=5)
    Channel.objects.create(owner=ann, transport="email", address="ann@example.com")
    Schedule.objects.create(owner=ann, start_urls=[SITE], rule="every 6h", next_at=timezone.now())
    ApiToken.objects.create(user=ann, name="script", digest="0" * 64, shown="crawl_0")
    a_finished_crawl(ann)
    a_crawl(ann)
    return ann


@pytest.mark.parametrize("way", ["one", "many"])
def test_before_a_person_is_deleted_it_is_told_what_becomes_of_their_crawls(staff: Client, way: str) -> None:
    ann = a_busy_person()
    if way == "one":
        answer = staff.get(f"/admin/auth/user/{ann.pk}/delete/")
    else:
        answer = staff.post("/admin/auth/user/", deletion(ann))
    text = answer.content.decode()
    assert "Not deleted: 2 crawls. They will have no owner" in text
    assert "Still active: 1 crawl. They continue without a quota" in text
    listed = staff.get(html.unescape(re.search(r'href="([^"]*owner__in=[^"]*)"', text)[1]))  # type: ignore[index]
    assert "2 crawls" in listed.content.decode()


@pytest.mark.parametrize("way", ["one", "many"])
def test_a_deleted_person_takes_all_but_the_crawls_along(staff: Client, way: str) -> None:
    ann = a_busy_person()
    if way == "one":
        staff.post(f"/admin/auth/user/{ann.pk}/delete/", {"post": "yes"})
    else:
        staff.post("/admin/auth/user/", deletion(ann, post="yes"))
    assert not User.objects.filter(username="ann").exists()
    assert [model.objects.exists() for model in (Usage, Channel, Schedule, ApiToken)] == [False] * 4
    assert list(Crawl.objects.values_list("owner", flat=True)) == [None, None]


def test_a_person_without_crawls_leaves_nothing_to_tell(staff: Client) -> None:
    assert "Not deleted" not in staff.get(f"/admin/auth/user/{a_person('ann').pk}/delete/").content.decode()


def test_a_crawl_leads_to_its_page(staff: Client, ids: dict[str, object]) -> None:
    assert f"/crawls/{ids['crawl']}/" in staff.get(f"/admin/crawler/crawl/{ids['crawl']}/change/").content.decode()


@pytest.mark.parametrize("table", OF_STAFF)
def test_staff_without_any_permission_may_look_too(ids: dict[str, object], table: str) -> None:
    browser = a_helper()
    assert browser.get(f"/admin/crawler/{table}/{ids[table]}/change/").status_code == 200
    assert browser.get("/admin/auth/user/").status_code == 403


def test_who_came_from_where_is_for_superusers(ids: dict[str, object]) -> None:
    browser = a_helper()
    for path in ("", f"{ids['auditentry']}/change/", f"{ids['auditentry']}/history/"):
        assert browser.get(f"/admin/crawler/auditentry/{path}").status_code == 403


@pytest.mark.parametrize("name", ["", "ann"])
def test_who_is_no_staff_is_sent_to_the_login(ids: dict[str, object], name: str) -> None:
    browser, key = Client(), User.objects.get().pk
    if name:
        browser.force_login(a_person(name))
    for model in REGISTERED:
        if model._meta.app_label == "django_rq":
            continue  # see test_rq_doors
        table = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        row = f"{table}{ids.get(model._meta.model_name or '', key)}"
        for address in (table, f"{table}add/", f"{row}/change/", f"{row}/delete/", f"{row}/history/"):
            for answer in (browser.get(address), browser.post(address, {"post": "yes"})):
                assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/admin/login/"), address


def test_of_a_long_table_no_more_rows_are_counted_than_matter(
    staff: Client, ids: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "MAX_COUNTED_ROWS", 10)
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
        r"For new@example\.com, valid once, for three days: http://127\.0\.0\.1:8000/invitation/\w+/[\w-]+/", text
    )
    assert "Ann already has a password" in text


def test_who_may_change_accounts_and_is_no_superuser_makes_none(db: None) -> None:
    """The link of a superuser's account would make them one."""
    browser, root = a_helper("change_user", "view_user"), User.objects.create_superuser("root")
    assert "/invitation/" not in invitations(browser, root)


@pytest.mark.parametrize("table", ["channel", "delivery"])
def test_an_address_that_is_a_secret_is_not_shown(staff: Client, ids: dict[str, object], table: str) -> None:
    assert "hooks.slack.com" not in staff.get(f"/admin/crawler/{table}/{ids[table]}/change/").content.decode()


HOOK = "https://hook.example.com/swordfish?token=swordfish"


def test_staff_do_not_learn_whom_people_have_told(staff: Client) -> None:
    """As on the pages: whom a crawl tells is for its owner to see."""
    options = CrawlOptions(notify_webhooks=(HOOK,), notify_emails=("swordfish@example.com",))
    crawl = a_finished_crawl(a_person("ann"), options=options)
    delivery = a_delivery(crawl, HOOK, error=f"{HOOK} answered 500")
    Delivery.objects.update(transport="webhook")
    rule = {"rule": "every 6h", "next_at": timezone.now(), "options": options.to_plain()}
    schedule = Schedule.objects.create(owner=crawl.owner, start_urls=[SITE], **rule)
    rows = {"crawl": crawl, "schedule": schedule, "notice": delivery.notice, "delivery": delivery}
    for table, row in rows.items():
        for path in ("", f"{row.pk}/change/"):
            page = staff.get(f"/admin/crawler/{table}/{path}")
            assert page.status_code == 200
            assert "swordfish" not in page.content.decode(), (table, path)


def a_helper(*permissions: str) -> Client:
    """Somebody of the staff who may do these things with accounts."""
    helper = User.objects.create_user("helper", password="secret", is_staff=True)
    helper.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    browser = Client()
    browser.force_login(helper)
    return browser


def test_staff_who_may_change_accounts_make_nobody_mightier(db: None) -> None:
    browser, helper = a_helper("change_user", "view_user"), User.objects.get(username="helper")
    ann = a_person("ann")
    typed = {"username": "ann", "date_joined_0": "2026-01-01", "date_joined_1": "00:00", "is_active": "on"}
    mighty = {**typed, "is_superuser": "on", "is_staff": "on", "user_permissions": [1], "email": "new@example.com"}
    assert browser.post(f"/admin/auth/user/{ann.pk}/change/", mighty).status_code == 302
    ann.refresh_from_db()
    assert (ann.email, ann.is_superuser, ann.is_staff) == ("new@example.com", False, False)
    assert not ann.user_permissions.exists()
    assert browser.post(f"/admin/auth/user/{helper.pk}/change/", {**mighty, "username": "helper"}).status_code == 403


def test_staff_who_may_change_accounts_do_not_touch_a_mightier_one(db: None) -> None:
    browser = a_helper("change_user", "view_user", "delete_user")
    root = User.objects.create_superuser("root", password="secret")
    new = {"usable_password": "true", "password1": "correct horse", "password2": "correct horse"}
    assert browser.post(f"/admin/auth/user/{root.pk}/password/", new).status_code == 403
    assert browser.post(f"/admin/auth/user/{root.pk}/change/", {"username": "root"}).status_code == 403
    assert browser.post(f"/admin/auth/user/{root.pk}/delete/", {"post": "yes"}).status_code == 403
    browser.post("/admin/auth/user/", deletion(root, post="yes"))
    assert User.objects.get(username="root").check_password("secret")


def test_staff_who_may_change_groups_give_them_no_permissions(db: None) -> None:
    browser, group = a_helper("change_group", "view_group"), Group.objects.create(name="editors")
    typed = {"name": "writers", "permissions": [Permission.objects.get(codename="change_user").pk]}
    assert browser.post(f"/admin/auth/group/{group.pk}/change/", typed).status_code == 302
    group.refresh_from_db()
    assert (group.name, group.permissions.count()) == ("writers", 0)
