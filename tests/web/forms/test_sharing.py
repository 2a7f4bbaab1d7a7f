"""Sharing a crawl and keeping it, in the form and on its page; and what those get who may only look."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.encryption import seal
from crawler.models import Crawl, Schedule
from tests.factories import a_crawl, a_finished_crawl, a_group, a_page, an_allowance

START = {"start_urls": "http://127.0.0.1:8/", "allow_private": "on"}


@pytest.fixture
def editors(ann: User, bob: User) -> Group:
    return a_group("editors", ann, bob)


def text_of(browser: Client, crawl: Crawl) -> str:
    return browser.get(f"/crawls/{crawl.id}/").content.decode()


def test_the_form_offers_ones_own_groups(as_ann: Client, editors: Group) -> None:
    a_group("strangers")
    text = as_ann.get("/").content.decode()
    assert "editors" in text
    assert "strangers" not in text


def test_who_is_in_no_group_is_offered_none(as_ann: Client) -> None:
    a_group("others")
    assert "Share with" not in as_ann.get("/").content.decode()


def test_a_crawl_begins_shared(as_root: Client, root: User, real_redis: object) -> None:
    group = a_group("editors", root)
    as_root.post("/crawls/", {**START, "group": group.pk, "group_controls": "on", "schedule": "every 6h"})
    for item in (Crawl.objects.get(), Schedule.objects.get()):
        assert (item.owner, item.group, item.group_controls) == (root, group, True)


def test_a_group_that_is_not_ones_own_is_refused(as_ann: Client, editors: Group, real_redis: object) -> None:
    response = as_ann.post("/crawls/", {"start_urls": "http://example.com/", "group": a_group("others").pk})
    assert response.status_code == 400
    assert "You are not in this group" in response.content.decode()
    assert not Crawl.objects.exists()


def test_the_owner_shares_and_takes_back_on_the_crawls_page(as_ann: Client, ann: User, editors: Group) -> None:
    crawl = a_finished_crawl(ann)
    response = as_ann.post(f"/crawls/{crawl.id}/share", {"group": editors.pk}, follow=True)
    assert "Shared with editors." in response.content.decode()
    crawl.refresh_from_db()
    assert (crawl.group, crawl.group_controls) == (editors, False)
    assert "No longer shared." in as_ann.post(f"/crawls/{crawl.id}/share", {"group": ""}, follow=True).content.decode()


def test_a_group_of_others_is_refused_on_the_page_too(as_ann: Client, ann: User, editors: Group) -> None:
    crawl = a_finished_crawl(ann)
    sent = {"group": a_group("others").pk}
    assert "You are not in this group" in as_ann.post(f"/crawls/{crawl.id}/share", sent, follow=True).content.decode()
    crawl.refresh_from_db()
    assert crawl.group is None


def test_a_member_sees_whose_it_is_and_no_buttons(as_bob: Client, ann: User, editors: Group) -> None:
    crawl = a_finished_crawl(ann, group=editors, outcomes={"timeout": 3}, statuses={})
    a_page(crawl, answer=Outcome.TIMEOUT, given_up=True)
    text = text_of(as_bob, crawl)
    assert "Owner: ann. Shared with the group editors." in text
    assert "Retry all" not in text
    assert "Keep it" not in text
    can = as_bob.get(f"/crawls/{crawl.id}/status").json()["can"]
    assert not any(can.values())
    assert "Send" not in as_bob.get(f"/crawls/{crawl.id}/dead-letters/").content.decode()


def test_a_member_who_may_control_it_has_all_buttons_but_the_owners(as_bob: Client, ann: User, editors: Group) -> None:
    crawl = a_crawl(ann, group=editors, group_controls=True)
    can = as_bob.get(f"/crawls/{crawl.id}/status").json()["can"]
    assert can == {"pause": True, "resume": False, "cancel": True, "delete": False, "finish": False}


def test_who_may_only_look_is_told_whom_to_ask(as_bob: Client, ann: User, editors: Group) -> None:
    crawl = a_crawl(ann, group=editors)
    response = as_bob.post(f"/crawls/{crawl.id}/pause")
    assert response.status_code == 403
    assert "Ask its owner to let your group control it." in response.content.decode()


def test_a_member_who_crawls_again_gets_neither_credentials_nor_addresses(
    as_bob: Client, as_ann: Client, ann: User, editors: Group
) -> None:
    options = CrawlOptions(notify_webhooks=("https://example.com/secret",), max_pages=77)
    crawl = a_finished_crawl(ann, options=options, group=editors, sealed=seal(parse(bearer="abc")))
    assert ('id="sent"' in text_of(as_bob, crawl), 'id="sent"' in text_of(as_ann, crawl)) == (False, True)
    theirs = as_bob.get(f"/?again={crawl.id}").content.decode()
    assert 'value="77"' in theirs
    assert "example.com/secret" not in theirs
    assert "same_credentials" not in theirs
    mine = as_ann.get(f"/?again={crawl.id}").content.decode()
    assert "example.com/secret" in mine
    assert "same_credentials" in mine


def test_a_crawl_can_be_kept_and_given_up_again(as_ann: Client, ann: User, settings: Any) -> None:
    settings.CRAWLER_KEEP_DAYS = 30
    crawl = a_finished_crawl(ann, finished_at=timezone.now() - timedelta(days=1))
    assert "It will be deleted on" in text_of(as_ann, crawl)
    as_ann.post(f"/crawls/{crawl.id}/keep", {"keep": "on"})
    assert "It is exempt from automatic deletion." in text_of(as_ann, crawl)
    as_ann.post(f"/crawls/{crawl.id}/keep", {"keep": "off"})
    assert "It will be deleted on" in text_of(as_ann, crawl)


def test_without_a_limit_nothing_is_said_of_deleting(as_ann: Client, ann: User) -> None:
    assert "will be deleted" not in text_of(as_ann, a_finished_crawl(ann))


def test_a_crawl_too_many_is_refused_until_later(as_ann: Client, ann: User, real_redis: object) -> None:
    an_allowance(ann, active_crawls=1)
    a_crawl(ann)
    response = as_ann.post("/crawls/", {"start_urls": "http://93.184.216.34/"})
    assert (response.status_code, response["Retry-After"]) == (429, "60")
    assert "You have 1 crawl that is not over, and may have 1." in response.content.decode()
    assert Crawl.objects.count() == 1


def test_a_held_crawl_says_why_it_waits(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann, state="paused", held_until=timezone.now() + timedelta(hours=3))
    assert "its owner has reached the limit of pages a day. It continues on" in text_of(as_ann, crawl)
