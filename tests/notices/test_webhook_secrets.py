"""Secrets of webhooks: one for each owner and address, shown once, replaced without a gap."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from standardwebhooks import Webhook, WebhookVerificationError

from crawler import clock
from crawler.core.errors import BadInput
from crawler.models import WebhookSecret
from crawler.notices.webhook_secrets import make_secret, secrets_for
from tests.bench import Bench
from tests.factories import a_person
from tests.site import Reply, Site

HOOK = "https://example.com/hook"


def accepted(site: Site, secret: str) -> bool:
    """Whether the official library accepts the last request to the receiver under this secret."""
    last = site.requests[-1]
    try:
        Webhook(secret).verify(last.body, {name.lower(): value for name, value in last.headers.items()})
    except WebhookVerificationError:
        return False
    return True


@pytest.mark.django_db
def test_a_secret_is_found_by_owner_and_address() -> None:
    ann, ben = a_person("ann"), a_person("ben")
    made = make_secret(ann.pk, HOOK)
    assert secrets_for("webhook", ann.pk, HOOK) == (made.secret,)
    assert secrets_for("webhook", ben.pk, HOOK) == secrets_for("webhook", None, HOOK) == ()
    assert secrets_for("webhook", ann.pk, f"{HOOK}/2") == secrets_for("slack", ann.pk, HOOK) == ()


@pytest.mark.django_db
def test_a_replaced_secret_signs_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_secret(None, HOOK), make_secret(None, HOOK)
    assert secrets_for("webhook", None, HOOK) == (second.secret, first.secret)
    tomorrow = clock.now() + timedelta(hours=25)
    monkeypatch.setattr(clock, "now", lambda: tomorrow)
    assert secrets_for("webhook", None, HOOK) == (second.secret,)


@pytest.mark.django_db
def test_neither_the_secret_nor_the_address_is_in_the_table() -> None:
    made = make_secret(None, HOOK)
    row = str(WebhookSecret.objects.values().get())
    assert made.secret not in row
    assert HOOK not in row


@pytest.mark.django_db
def test_what_is_no_web_address_gets_no_secret() -> None:
    with pytest.raises(BadInput):
        make_secret(None, "me@example.com")
    assert not WebhookSecret.objects.exists()


@pytest.mark.django_db
def test_secrets_survive_another_secret_key(settings: Any) -> None:
    made = make_secret(None, HOOK)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another key"
    call_command("reseal")
    settings.SECRET_KEY_FALLBACKS = []
    assert secrets_for("webhook", None, HOOK) == (made.secret,)


@pytest.mark.site({"/": "", "/hook": Reply()})
def test_the_receiver_of_a_crawl_checks_with_its_own_secret(bench: Bench) -> None:
    address = f"{bench.site.url}/hook"
    made = make_secret(None, address)
    bench.start(notify_webhooks=(address,))
    bench.work()
    assert bench.site.requests[-1].path == "/hook"
    assert accepted(bench.site, made.secret)


@pytest.mark.site({"/": "", "/hook": Reply()})
def test_another_receiver_cannot_check_with_it(bench: Bench) -> None:
    other = make_secret(None, HOOK)
    bench.start(notify_webhooks=(f"{bench.site.url}/hook",))
    bench.work()
    assert not accepted(bench.site, other.secret)


def test_a_command_prints_the_secret_of_crawls_without_an_owner(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("webhook_secret", HOOK)
    assert secrets_for("webhook", None, HOOK) == (capsys.readouterr().out.strip(),)
