"""Secrets of webhooks on the page of notifications: each is shown once."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.encryption import seal_address
from crawler.models import Channel, WebhookSecret
from crawler.notices.webhook_secrets import make_secret, secrets_for
from tests.factories import a_person
from tests.notices.test_webhook_secrets import HOOK, accepted
from tests.site import Reply, Site

PAGE = "/account/notifications/"


def shown_in(html: str) -> str:
    return html.partition('id="secret" type="text" value="')[2].partition('"')[0]


@pytest.fixture
def _private_hosts(settings: Any) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]


@pytest.mark.usefixtures("_private_hosts")
def test_the_secret_of_a_new_webhook_is_shown_once_and_signs_its_test(as_ann: Client) -> None:
    with Site({"/hook": Reply()}).serving() as site:
        typed = {"transport": "webhook", "address": f"{site.url}/hook", "events": ["crawl.finished"]}
        secret = shown_in(as_ann.post(f"{PAGE}add", typed).content.decode())
        assert secret.startswith("whsec_")
        assert secret not in as_ann.get(PAGE).content.decode()
        as_ann.post(f"{PAGE}{Channel.objects.get().id}/test")
        assert accepted(site, secret)


@pytest.mark.usefixtures("_private_hosts")
def test_a_new_secret_and_the_one_before_both_sign(as_ann: Client, ann: User) -> None:
    with Site({"/hook": Reply()}).serving() as site:
        address = f"{site.url}/hook"
        channel = Channel.objects.create(owner=ann, transport="webhook", address=seal_address(address))
        before = make_secret(ann.pk, address).secret
        page = as_ann.post(f"{PAGE}{channel.id}/secret").content.decode()
        as_ann.post(f"{PAGE}{channel.id}/test")
        assert accepted(site, before)
        assert accepted(site, shown_in(page))
        assert "signed with the previous secret, too" in page


def test_a_webhook_at_another_address_gets_another_secret(as_ann: Client, ann: User) -> None:
    channel = Channel.objects.create(owner=ann, transport="webhook", address=seal_address(HOOK))
    make_secret(ann.pk, HOOK)
    typed = {"transport": "webhook", "address": "http://192.0.2.1/other", "events": ["crawl.finished"]}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("crawler.notices.user_channels.check_web_address", lambda *args, **named: None)
        page = as_ann.post(f"{PAGE}{channel.id}/", typed).content.decode()
    assert shown_in(page).startswith("whsec_")


def test_a_mail_address_has_no_secret(as_ann: Client, ann: User) -> None:
    channel = Channel.objects.create(owner=ann, transport="email", address="ann@example.com")
    page = as_ann.post(f"{PAGE}{channel.id}/secret", follow=True).content.decode()
    assert "Only webhooks are signed" in page
    assert not WebhookSecret.objects.exists()


def test_the_secret_of_another_user_cannot_be_replaced(as_ann: Client) -> None:
    channel = Channel.objects.create(owner=a_person("ben"), transport="webhook", address=seal_address(HOOK))
    assert as_ann.post(f"{PAGE}{channel.id}/secret").status_code == 404
    assert not WebhookSecret.objects.exists()


def test_the_webhook_of_a_crawl_gets_a_secret_on_the_page(as_ann: Client, ann: User) -> None:
    page = as_ann.post(f"{PAGE}secret", {"address": HOOK}).content.decode()
    assert secrets_for("webhook", ann.pk, HOOK) == (shown_in(page),)


def test_a_wrong_address_is_refused_next_to_its_field(as_ann: Client) -> None:
    response = as_ann.post(f"{PAGE}secret", {"address": "nowhere"})
    assert response.status_code == 400
    assert "is not a web address" in response.content.decode()
