"""The page where people say where they are told of all their crawls: each sees and moves only their own."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from crawler.accounts.slow_calls import slow_call
from crawler.core.channels.catalogue import SEALED
from crawler.encryption import opened_address, seal_address
from crawler.models import Channel, Delivery
from crawler.notices.user_channels import MAX_CHANNELS
from tests.factories import a_delivery, a_finished_crawl, a_person
from tests.site import Reply, Site

PAGE = "/account/notifications/"
SLACK = "http://127.0.0.1:8/services/T/B/secret"


@pytest.fixture(autouse=True)
def _this_machine_may_be_told(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]


def a_channel(owner: User, **fields: Any) -> Channel:
    values: dict[str, Any] = {"transport": "email", "address": "ann@example.com", **fields}
    return Channel.objects.create(owner=owner, **values)


def typed(**fields: Any) -> dict[str, Any]:
    return {"transport": "email", "address": "ann@example.com", "events": ["crawl.finished"], **fields}


def test_the_head_of_every_page_leads_there(as_ann: Client) -> None:
    assert f'href="{PAGE}"' in as_ann.get("/schedules/").content.decode()


def test_one_is_added(as_ann: Client, ann: User) -> None:
    response = as_ann.post(f"{PAGE}add", typed(name="  my\nmail ", events=["crawl.failed", "crawl.started"]))
    assert response["Location"] == PAGE
    channel = Channel.objects.get()
    assert (channel.owner, channel.name, channel.address) == (ann, "my mail", "ann@example.com")
    assert channel.events == ["crawl.started", "crawl.failed"]
    assert "Notified when a crawl is: started, failed." in as_ann.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("fields", "at", "said"),
    [
        ({"address": "me"}, "address", "is not an e-mail address"),
        ({"address": ""}, "address", "Enter the address, such as me@example.com"),
        ({"transport": "webhook", "address": "ftp://a/"}, "address", "enter one with https:// or http://"),
        (
            {"transport": "slack", "address": "me@example.com"},
            "address",
            "This is not a Slack address; enter one such as",
        ),
        ({"transport": "slack", "address": f"{SEALED}abc"}, "address", "enter it as you received it"),
        ({"transport": "webhook", "address": "http://10.0.0.1/hook"}, "address", "; allow it by CRAWLER_PRIVATE_HOSTS"),
        ({"transport": "webhook", "address": "http://a:b:c/hook"}, "address", "is not a web address"),
        ({"transport": "pigeon"}, "transport", "Select a valid choice"),
        ({"events": []}, "events", "Choose at least one event"),
        ({"events": ["crawl.page"]}, "events", "not an event of a channel"),
        ({"name": "x" * 81}, "name", "at most 80 characters"),
    ],
)
def test_what_cannot_be_used_is_told_beside_its_field(
    as_ann: Client, fields: dict[str, Any], at: str, said: str
) -> None:
    response = as_ann.post(f"{PAGE}add", typed(**fields))
    assert response.status_code == 400
    assert said in " ".join(response.context["form"].errors[at])
    assert not Channel.objects.exists()


def test_there_is_a_limit_to_how_many_there_are(as_ann: Client, ann: User) -> None:
    for number in range(MAX_CHANNELS):
        a_channel(ann, address=f"{number}@example.com")
    assert as_ann.post(f"{PAGE}add", typed()).status_code == 400
    assert Channel.objects.count() == MAX_CHANNELS


def test_a_secret_address_is_stored_encrypted_and_never_shown(as_ann: Client) -> None:
    as_ann.post(f"{PAGE}add", typed(transport="slack", address=SLACK))
    channel = Channel.objects.get()
    assert channel.address.startswith(SEALED)
    assert opened_address(channel.address) == SLACK
    for address in (PAGE, f"{PAGE}{channel.id}/"):
        html = as_ann.get(address).content.decode()
        assert "http://127.0.0.1:8/…" in html
        assert "services/T/B" not in html
        assert channel.address not in html


def test_left_empty_a_secret_address_stays_as_it_is(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann, transport="slack", address=seal_address(SLACK))
    as_ann.post(f"{PAGE}{channel.id}/", typed(transport="slack", address="", name="room"))
    channel.refresh_from_db()
    assert (channel.name, opened_address(channel.address)) == ("room", SLACK)


def test_another_transport_needs_another_address(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann, transport="slack", address=seal_address(SLACK))
    response = as_ann.post(f"{PAGE}{channel.id}/", typed(transport="discord", address=""))
    assert response.status_code == 400
    channel.refresh_from_db()
    assert channel.transport == "slack"


def test_an_address_that_cannot_be_read_has_to_be_typed_again(as_ann: Client, ann: User, settings: Any) -> None:
    now, settings.SECRET_KEY = settings.SECRET_KEY, "has changed since it was stored"
    channel = a_channel(ann, transport="slack", address=seal_address(SLACK))
    settings.SECRET_KEY = now
    assert "stored with another SECRET_KEY" in as_ann.get(PAGE).content.decode()
    assert as_ann.post(f"{PAGE}{channel.id}/", typed(transport="slack", address="")).status_code == 400
    assert "cannot be read" in as_ann.post(f"{PAGE}{channel.id}/test", follow=True).content.decode()


def test_one_is_switched_off_and_on(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann)
    as_ann.post(f"{PAGE}{channel.id}/switch")
    assert not Channel.objects.get().enabled
    assert "Switch on" in as_ann.get(PAGE).content.decode()
    as_ann.post(f"{PAGE}{channel.id}/switch", {"on": "1"})
    assert Channel.objects.get().enabled


def test_removed_it_gets_nothing_more(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann)
    delivery = a_delivery(a_finished_crawl(ann), channel=channel)
    as_ann.post(f"{PAGE}{channel.id}/remove")
    assert not Channel.objects.exists()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.error) == (Delivery.GIVEN_UP, "the channel was removed")
    assert as_ann.post(f"{PAGE}{channel.id}/remove")["Location"] == PAGE  # twice is no error


@pytest.mark.parametrize("door", ["", "switch", "remove", "test"])
def test_items_of_others_are_not_found(as_ann: Client, door: str) -> None:
    channel = a_channel(a_person("bob"))
    response = as_ann.post(f"{PAGE}{channel.id}/{door}", typed())
    assert response.status_code == (302 if door == "remove" else 404)  # as one that is gone already
    assert "bob" not in as_ann.get(PAGE).content.decode()
    channel.refresh_from_db()
    assert (channel.enabled, channel.address, channel.tested_at) == (True, "ann@example.com", None)
    assert mail.outbox == []


def test_the_last_notice_and_what_came_of_it_is_shown(as_ann: Client, ann: User) -> None:
    channel, crawl = a_channel(ann), a_finished_crawl(ann)
    a_delivery(crawl, channel=channel, state=Delivery.GIVEN_UP, error="the mail server refused")
    html = as_ann.get(PAGE).content.decode()
    assert "given up" in html
    assert "the mail server refused" in html
    assert f'href="/crawls/{crawl.id}/notices/"' in html


# The test


def test_a_test_says_that_it_arrived(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann)
    html = as_ann.post(f"{PAGE}{channel.id}/test", follow=True).content.decode()
    assert "A test was sent: the mail server accepted it." in html
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (["ann@example.com"], "Site Crawler: a test")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (200, "A test was sent: the receiver returned 200."),
        (500, "The test did not arrive: the receiver returned 500."),
    ],
)
def test_a_test_says_what_came_back(as_ann: Client, ann: User, status: int, said: str) -> None:
    with Site({"/hook": Reply(status=status)}).serving() as site:
        channel = a_channel(ann, transport="webhook", address=f"{site.url}/hook")
        assert said in as_ann.post(f"{PAGE}{channel.id}/test", follow=True).content.decode()
    (post,) = site.requests
    assert json.loads(post.body)["event"] == post.headers["X-Crawler-Event"] == "crawl.test"


def test_an_address_that_is_not_public_is_not_asked(as_ann: Client, ann: User, settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = []
    with Site({"/hook": Reply()}).serving() as site:
        channel = a_channel(ann, transport="webhook", address=f"{site.url}/hook")
        html = as_ann.post(f"{PAGE}{channel.id}/test", follow=True).content.decode()
    assert "The test did not arrive" in html
    assert site.requests == []


def test_the_button_cannot_be_used_to_flood_somebody(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann)
    for _ in range(3):
        html = as_ann.post(f"{PAGE}{channel.id}/test", follow=True).content.decode()
    assert "wait ten seconds" in html
    assert len(mail.outbox) == 1
    Channel.objects.update(tested_at=timezone.now() - timedelta(seconds=11))
    as_ann.post(f"{PAGE}{channel.id}/test")
    assert len(mail.outbox) == 2


def test_a_user_tests_one_channel_at_a_time(as_ann: Client, ann: User) -> None:
    channel = a_channel(ann)
    with slow_call(ann.pk):
        response = as_ann.post(f"{PAGE}{channel.id}/test")
    assert (response.status_code, response["Retry-After"]) == (429, "5")
    assert "Your last preview or test is still in progress" in response.content.decode()
    assert mail.outbox == []
