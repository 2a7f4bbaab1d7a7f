"""Deliveries are tried until they succeed, not more than once at a time, and given up in the end."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from crawler.http.fetcher import Limits
from crawler.models import Delivery
from crawler.notices import delivery as announcing
from crawler.notices import outbox
from crawler.notices.delivery import deliver_due, message_of
from tests.bench import Bench
from tests.site import Reply


def finished(bench: Bench, **addresses: Any) -> Delivery:
    bench.start(**addresses)
    bench.work()
    assert bench.state() == "finished"
    return Delivery.objects.get()


def test_a_mail_is_sent_once(bench: Bench) -> None:
    delivery = finished(bench, notify_emails=("me@example.com",))
    assert delivery.state == Delivery.DELIVERED
    deliver_due()
    (sent,) = mail.outbox
    assert (sent.to, sent.body) == (["me@example.com"], message_of(delivery).text)


@pytest.mark.site({"/": "", "/hook": Reply(status=503)})
def test_a_webhook_that_fails_is_tried_again_later(bench: Bench) -> None:
    bench.start(notify_webhooks=(f"{bench.site.url}/hook",))
    bench.work("crawl", "fetch", at_most=4)
    deliver_due()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (Delivery.PENDING, 1)
    assert delivery.due_at > timezone.now()
    assert "503" in delivery.error


@pytest.mark.site({"/": "", "/hook": Reply(status=410)})
def test_a_webhook_that_is_gone_is_given_up(bench: Bench) -> None:
    assert finished(bench, notify_webhooks=(f"{bench.site.url}/hook",)).state == Delivery.GIVEN_UP


@pytest.mark.site({"/": "", "/hook": Reply()})
def test_a_try_that_was_never_ended_is_repeated_with_the_same_id(bench: Bench) -> None:
    delivery = finished(bench, notify_webhooks=(f"{bench.site.url}/hook",))
    Delivery.objects.update(state=Delivery.PENDING, due_at=timezone.now() - timedelta(seconds=1))
    deliver_due()
    ids = {request.headers["X-Crawler-Delivery"] for request in bench.site.requests if request.path == "/hook"}
    assert ids == {str(delivery.id)}
    assert bench.site.hits["/hook"] == 2


def test_two_processes_do_not_try_the_same_delivery(bench: Bench) -> None:
    finished(bench, notify_emails=("me@example.com",))
    Delivery.objects.update(state=Delivery.PENDING, due_at=timezone.now() - timedelta(seconds=1))
    delivery = Delivery.objects.get()
    assert outbox.claim(delivery, timezone.now())
    assert not outbox.claim(delivery, timezone.now())


def test_after_the_last_try_it_is_given_up(bench: Bench) -> None:
    delivery = finished(bench, notify_emails=("me@example.com",))
    Delivery.objects.update(state=Delivery.PENDING, attempts=len(outbox.RETRY_DELAYS_S) + 1)
    outbox.mark_failed(delivery.id, timezone.now(), "still no answer", permanent=False)
    assert Delivery.objects.get().state == Delivery.GIVEN_UP


@pytest.mark.site({"/": "", "/hook": Reply("x", headers={"Content-Length": "0" * 5000 + "1"})})
def test_a_receiver_with_a_long_content_length_has_accepted(bench: Bench) -> None:
    bench.start(notify_webhooks=(f"{bench.site.url}/hook",))
    bench.work("crawl", "fetch", at_most=4)
    deliver_due()
    assert Delivery.objects.get().state == Delivery.DELIVERED


def test_an_internal_error_does_not_stop_other_deliveries(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    carry = announcing.deliver

    def faulty(delivery: Delivery, limits: Limits | None = None) -> str:
        return carry(delivery, limits) if delivery.address == "you@example.com" else str(1 / 0)

    monkeypatch.setattr(announcing, "deliver", faulty)
    bench.start(notify_emails=("me@example.com", "you@example.com"))
    bench.work("crawl", "fetch", at_most=4)
    deliver_due()
    told = {delivery.address: (delivery.state, delivery.error) for delivery in Delivery.objects.all()}
    assert told == {
        "me@example.com": (Delivery.PENDING, announcing.INTERNAL_ERROR),
        "you@example.com": (Delivery.DELIVERED, ""),
    }
