"""The forms of a crawl's queue: pages are added, requested again, and options changed; the page says what happened."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.crawl.completion import State
from crawler.core.crawl.options import CrawlOptions
from crawler.models import Crawl, Page
from tests.factories import SITE, a_crawl, a_finished_crawl, a_group, a_page, a_person
from tests.web.crawl.test_control import press, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def bob(db: None) -> User:
    return a_person("bob")


@pytest.fixture
def as_bob(bob: User) -> Client:
    browser = Client()
    browser.force_login(bob)
    return browser


@pytest.fixture
def crawl(ann: User) -> Crawl:
    made = a_finished_crawl(ann, discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    a_page(made)
    return made


def test_pages_are_added_and_what_was_refused_is_told(as_ann: Client, crawl: Crawl) -> None:
    urls = f"{SITE}new\nhttps://other.example/\n{SITE}"
    refused, told = said(press(as_ann, crawl, "add", urls=urls, delay="10m", priority="9"))
    assert told.startswith("1 page added; 1 page closed already, and not asked for again; 1 page refused.")
    assert refused == "https://other.example/: It is outside the crawl's scope."
    page = Page.objects.get(url=f"{SITE}new")
    assert (page.priority, page.not_before is None, Crawl.objects.get().state) == (9, False, State.RUNNING)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"urls": ""}, "Type the URL of at least one page."),
        ({"urls": SITE, "priority": "99"}, "The priority must be between 0 (last) and 10 (first), not 99."),
        ({"urls": SITE, "delay": "soon"}, "Not before must be a time such as 2h, 30m or 90s"),
    ],
)
def test_what_cannot_be_added_is_told(as_ann: Client, crawl: Crawl, sent: dict[str, str], told: str) -> None:
    assert said(press(as_ann, crawl, "add", **sent))[0].startswith(told)
    assert not Page.objects.filter(status=Page.OPEN).exists()


def test_a_page_is_requested_again_from_its_view(as_ann: Client, crawl: Crawl) -> None:
    page = Page.objects.get()
    assert "Request it again" in as_ann.get(f"/crawls/{crawl.id}/pages/{page.pk}/").content.decode()
    assert said(press(as_ann, crawl, "again", page=page.pk)) == [
        "Asked for again: 1 page. The crawl was over and runs again."
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
    assert said(press(as_ann, crawl, "change", **typed(as_ann, crawl))) == ["It is so already."]
    told = said(press(as_ann, crawl, "change", **typed(as_ann, crawl, delay="2", max_pages="")))
    assert told == ["Changed: Page limit from 10 to none; Delay from 0 to 2."]


def test_a_value_that_cannot_be_used_changes_nothing(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    told = said(press(as_ann, crawl, "change", **typed(as_ann, crawl, delay="2", max_pages="0")))
    assert told[0].startswith("Nothing was changed: Page limit must be 1 or more, not 0")
    assert Crawl.objects.get().chosen.delay == 0.0


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
