"""The forms of a crawl's queue: pages are added, requested again, and options changed; the page says what happened."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.encryption import opened
from crawler.models import Crawl, Page
from tests.factories import SITE, a_crawl, a_crawl_that_logs_in, a_finished_crawl, a_group, a_page
from tests.web.crawl.test_control import press, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def crawl(ann: User) -> Crawl:
    made = a_finished_crawl(ann, discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    a_page(made)
    return made


def test_pages_are_added_and_what_was_refused_is_told(as_ann: Client, crawl: Crawl) -> None:
    urls = f"{SITE}new\nhttps://other.example/\n{SITE}"
    refused, told = said(press(as_ann, crawl, "add", urls=urls, delay="10m", priority="9"))
    assert told.startswith("1 page added; 1 page already closed, and not requested again; 1 page refused.")
    assert refused == "https://other.example/: It is outside the crawl's scope."
    page = Page.objects.get(url=f"{SITE}new")
    assert (page.priority, page.not_before is None, Crawl.objects.get().state) == (9, False, State.RUNNING)


def test_pages_are_added_for_a_time_in_utc(as_ann: Client, crawl: Crawl) -> None:
    at = (timezone.now() + timedelta(days=2)).replace(microsecond=0)
    press(as_ann, crawl, "add", urls=f"{SITE}new", not_before=at.strftime("%Y-%m-%dT%H:%M:%S"))
    assert Page.objects.get(url=f"{SITE}new").not_before == at.timestamp()


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"urls": ""}, "Type the URL of at least one page."),
        ({"urls": SITE, "delay": "soon"}, "Not before must be a time such as 2h, 30m or 90s"),
        ({"urls": SITE, "not_before": "soon"}, "The time must be one such as 2026-12-01T08:00"),
        ({"urls": SITE, "not_before": "2999-01-01", "delay": "1h"}, "Enter a delay or a time before which"),
    ],
)
def test_what_cannot_be_added_is_told(as_ann: Client, crawl: Crawl, sent: dict[str, str], told: str) -> None:
    assert said(press(as_ann, crawl, "add", **sent))[0].startswith(told)
    assert not Page.objects.filter(status=Page.OPEN).exists()


def test_a_page_is_requested_again_from_its_view(as_ann: Client, crawl: Crawl) -> None:
    page = Page.objects.get()
    assert "Request it again" in as_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}/").content.decode()
    assert said(press(as_ann, crawl, "again", page=page.pk)) == [
        "1 page will be requested again. The crawl had ended and runs again."
    ]
    assert "Request it again" not in as_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}/").content.decode()


def typed(as_ann: Client, crawl: Crawl, **values: object) -> dict[str, object]:
    """What the form of the crawl's page sends, with these values."""
    form = as_ann.get(f"/crawls/{crawl.id}/").context["change_form"]
    shown = {name: form[name].value() for name in form.fields}
    sent = {
        name: "\n".join(value) if name != "notify_events" and isinstance(value, (tuple, list)) else value
        for name, value in shown.items()
    }
    return {name: value for name, value in {**sent, **values}.items() if value not in (None, False)}


def test_options_are_changed_and_others_stay(as_ann: Client, ann: User) -> None:
    options = CrawlOptions(max_pages=10, exclude=("/a",), deadline=5400.0, notify_webhooks=("https://example.com/h",))
    crawl = a_crawl(ann, options=options)
    assert said(press(as_ann, crawl, "change", **typed(as_ann, crawl))) == ["Nothing to change."]
    told = said(press(as_ann, crawl, "change", **typed(as_ann, crawl, delay="2", max_pages="")))
    assert told == ["Changed: Page limit from 10 to none; Delay from 0 to 2."]


def test_a_member_who_may_control_it_changes_all_but_the_notices(as_bob: Client, ann: User, bob: User) -> None:
    options = CrawlOptions(notify_emails=("me@example.com",))
    crawl = a_crawl(ann, options=options, group=a_group("editors", ann, bob), group_controls=True)
    assert "notify_emails" not in as_bob.get(f"/crawls/{crawl.id}/").context["change_form"].fields
    press(as_bob, crawl, "change", delay="2", concurrency="4", notify_emails="")
    crawl.refresh_from_db()
    assert (crawl.chosen.delay, crawl.chosen.notify_emails) == (2.0, ("me@example.com",))


def test_who_may_only_look_has_no_forms(as_bob: Client, ann: User, bob: User) -> None:
    crawl = a_crawl(ann, group=a_group("editors", ann, bob))
    assert "add_form" not in as_bob.get(f"/crawls/{crawl.id}/").context


def test_the_pages_that_filters_leave_are_requested_again_from_their_table(as_ann: Client, crawl: Crawl) -> None:
    a_page(crawl, f"{SITE}gone", 404)
    a_page(crawl, f"{SITE}gone-too", 404)
    Crawl.objects.update(discovered=3, outcomes={"2xx": 1, "4xx": 2}, statuses={"200": 1, "404": 2})
    table = as_ann.get(f"/crawls/{crawl.id}/pages/?outcome=4xx&sort=-url").content.decode()
    assert "Yes, request 2 pages again" in table
    assert '<input type="hidden" name="outcome" value="4xx">' in table
    response = press(as_ann, crawl, "again", filters="1", outcome="4xx")
    assert response.redirect_chain == [(f"/crawls/{crawl.id}/pages/?outcome=4xx", 302)]
    assert said(response) == ["2 pages will be requested again. The crawl had ended and runs again."]
    open_urls = Page.objects.filter(status=Page.OPEN).order_by("id").values_list("url", flat=True)
    assert list(open_urls) == [f"{SITE}gone", f"{SITE}gone-too"]


def test_a_filter_that_cannot_be_used_requests_nothing(as_ann: Client, crawl: Crawl) -> None:
    press(as_ann, crawl, "again", filters="1", status="many")
    assert not Page.objects.filter(status=Page.OPEN).exists()


def test_who_only_sees_a_crawl_or_sees_too_many_pages_has_no_such_button(
    as_ann: Client, as_bob: Client, crawl: Crawl, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, button = f"/crawls/{crawl.id}/pages/", "Request again …"
    Crawl.objects.update(group=a_group("editors", bob))
    assert button in as_ann.get(address).content.decode()
    assert button not in as_bob.get(address).content.decode()
    monkeypatch.setattr("crawler.web.tables.page_table.MAX_COUNTED", 0)
    assert button not in as_ann.get(address).content.decode()


def test_what_was_typed_is_kept_when_no_page_can_be_added(as_ann: Client, crawl: Crawl) -> None:
    response = press(as_ann, crawl, "add", urls=f"{SITE}typed", priority="99", delay="10m")
    assert response.status_code == 400
    form = response.context["add_form"]
    assert (form["urls"].value(), form["priority"].value(), form["delay"].value()) == (f"{SITE}typed", "99", "10m")
    assert "<details open>" in response.content.decode()
    assert not response.context["change_form"].is_bound


def test_what_was_typed_is_kept_when_nothing_can_be_changed(as_ann: Client, crawl: Crawl) -> None:
    response = press(as_ann, crawl, "change", max_pages="many", exclude="/typed/")
    assert response.status_code == 400
    assert said(response)[0].startswith("Nothing was changed: ")
    form = response.context["change_form"]
    assert (form["max_pages"].value(), form["exclude"].value()) == ("many", "/typed/")


def test_the_fields_of_a_log_in_are_replaced_and_never_shown(as_ann: Client, ann: User) -> None:
    crawl = a_crawl_that_logs_in(ann)
    assert "swordfish" not in as_ann.get(f"/crawls/{crawl.id}/").content.decode()
    response = press(as_ann, crawl, "change", **typed(as_ann, crawl, login_fields="user=ann\npassword=swordfish-3"))
    assert said(response) == ["Changed: Fields of the log-in form (2)."]
    assert "swordfish" not in response.content.decode()
    crawl.refresh_from_db()
    fields = ["user=ann", "password=swordfish-3"]
    assert opened(crawl.sealed) == parse(headers=["X-Key: swordfish-1"], login_fields=fields)


def test_fields_of_a_log_in_that_are_left_empty_stay(as_ann: Client, ann: User) -> None:
    crawl = a_crawl_that_logs_in(ann)
    assert said(press(as_ann, crawl, "change", **typed(as_ann, crawl, delay="2"))) == ["Changed: Delay from 0 to 2."]
    assert Crawl.objects.get().sealed == crawl.sealed


def test_fields_of_a_log_in_that_cannot_be_used_are_not_sent_back(as_ann: Client, ann: User) -> None:
    crawl = a_crawl_that_logs_in(ann)
    response = press(as_ann, crawl, "change", **typed(as_ann, crawl, login_fields="swordfish-3"))
    assert said(response)[0].startswith("Nothing was changed: Enter each field of the log-in form as name=value")
    assert response.context["change_form"]["login_fields"].lost
    assert "swordfish" not in response.content.decode()


def test_only_a_crawl_that_logs_in_has_the_fields_of_a_log_in_and_for_its_owner_alone(
    as_ann: Client, as_bob: Client, ann: User, bob: User
) -> None:
    shared = {"group": a_group("editors", ann, bob), "group_controls": True}
    with_login, without = a_crawl_that_logs_in(ann, **shared), a_crawl(ann, **shared)

    def shown(browser: Client, crawl: Crawl) -> set[str]:
        names = set(browser.get(f"/crawls/{crawl.id}/").context["change_form"].fields)
        return names & {"login_fields", "login_check"}

    assert shown(as_ann, with_login) == {"login_fields", "login_check"}
    assert shown(as_bob, with_login) == {"login_check"}
    assert shown(as_ann, without) == set()
    press(as_bob, with_login, "change", delay="2", concurrency="4", login_fields="user=bob")
    assert Crawl.objects.get(pk=with_login.pk).sealed == with_login.sealed
