"""The log of a crawl's deliveries, and sending one again."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import seal_address
from crawler.models import Channel, Crawl, Delivery, Notice
from crawler.notices.delivery import deliver_due
from crawler.reports.receipt import receipt_of
from tests.factories import a_crawl, a_delivery, a_finished_crawl, a_person


def log(browser: Client, crawl: Crawl) -> str:
    return browser.get(f"/crawls/{crawl.id}/notices/").content.decode()


def again(delivery: Delivery) -> str:
    return f"/crawls/{delivery.notice.crawl_id}/notices/{delivery.id}/again"


def told(crawl: Crawl, **fields: object) -> Delivery:
    """A mail that says how this crawl ended."""
    notice = Notice.objects.create(crawl=crawl, event="crawl.finished", receipt=receipt_of(crawl))
    values: dict[str, object] = {"state": Delivery.DELIVERED, "attempts": 1, "tried_at": timezone.now()}
    where = {"transport": "email", "address": "me@example.com"}
    return Delivery.objects.create(notice=notice, **{**values, **where, **fields})


def test_each_delivery_stands_there_with_what_came_of_it(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    told(crawl, answer="the mail server accepted it")
    a_delivery(crawl, "other@example.com", Delivery.GIVEN_UP, attempts=7, error="no such user <b>")
    html = log(as_ann, crawl)
    for said in (
        "2 deliveries",
        "the mail server accepted it",
        "7 tries",
        "no such user &lt;b&gt;",
        "other@example.com",
    ):
        assert said in html


def test_the_crawls_page_leads_to_it(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    told(crawl)
    assert f'href="/crawls/{crawl.id}/notices/"' in as_ann.get(f"/crawls/{crawl.id}/").content.decode()


def test_a_delivery_of_another_crawl_is_not_sent_again_by_this_ones_door(as_ann: Client, ann: User) -> None:
    theirs, mine = told(a_finished_crawl(a_person("bob"))), a_finished_crawl(ann)
    assert as_ann.post(f"/crawls/{mine.id}/notices/{theirs.id}/again").status_code == 404
    assert as_ann.post(f"/crawls/{mine.id}/notices/{uuid4()}/again").status_code == 404


@pytest.mark.usefixtures("real_redis")
def test_sent_again_it_is_another_delivery_of_the_same_notice(as_ann: Client, ann: User) -> None:
    first = told(a_finished_crawl(ann))
    response = as_ann.post(again(first), follow=True)
    assert "It is being sent again." in response.content.decode()
    second = Delivery.objects.get(again=True)
    assert (second.notice, second.address, second.state) == (first.notice, first.address, Delivery.PENDING)
    deliver_due()
    (sent,) = mail.outbox
    assert str(second.id) in sent.message()["Message-ID"]
    assert "(sent again)" in log(as_ann, first.notice.crawl)


@pytest.mark.usefixtures("real_redis")
def test_one_that_is_still_on_its_way_is_tried_now_and_not_twice(as_ann: Client, ann: User) -> None:
    later = timezone.now() + timedelta(hours=6)
    delivery = told(a_finished_crawl(ann), state=Delivery.PENDING, attempts=6, due_at=later)
    assert "Try now" in log(as_ann, delivery.notice.crawl)
    response = as_ann.post(again(delivery), follow=True)
    assert "it is being sent now" in response.content.decode()
    assert Delivery.objects.get().due_at <= timezone.now()


@pytest.mark.usefixtures("real_redis")
def test_pressed_twice_it_is_sent_once_and_the_receipt_stays_as_it_was(as_ann: Client, ann: User) -> None:
    first = told(a_finished_crawl(ann))
    before = receipt_of(first.notice.crawl)
    as_ann.post(again(first))
    as_ann.post(again(first))
    assert Delivery.objects.filter(again=True).count() == 1
    assert receipt_of(first.notice.crawl) == before


@pytest.mark.usefixtures("real_redis")
def test_it_goes_where_its_channel_leads_now(as_ann: Client, ann: User) -> None:
    channel = Channel.objects.create(owner=ann, transport="email", address="mended@example.com")
    first = told(a_finished_crawl(ann), channel=channel, state=Delivery.GIVEN_UP)
    as_ann.post(again(first))
    assert Delivery.objects.get(again=True).address == "mended@example.com"


def test_while_redis_is_away_it_is_kept_for_later(as_ann: Client, ann: User) -> None:
    first = told(a_finished_crawl(ann))
    assert "as soon as Redis is back" in as_ann.post(again(first), follow=True).content.decode()
    assert Delivery.objects.filter(again=True, state=Delivery.PENDING).count() == 1


# Who sees what


def test_others_see_addresses_masked(as_root: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, options=CrawlOptions(notify_emails=("me@example.com",)))
    told(crawl, state=Delivery.GIVEN_UP, error="the mail server does not accept mail for me@example.com (550)")
    for address in (f"/crawls/{crawl.id}/notices/", f"/crawls/{crawl.id}/", f"/crawls/{crawl.id}/status"):
        html = as_root.get(address).content.decode()
        assert "me@example.com" not in html
        assert "m…@example.com" in html or "m\\u2026@example.com" in html


def test_others_see_masked_who_will_be_told(as_root: Client, ann: User) -> None:
    crawl = a_crawl(ann, options=CrawlOptions(notify_emails=("me@example.com",)))
    html = as_root.get(f"/crawls/{crawl.id}/").content.decode()
    assert "me@example.com" not in html
    assert "m…@example.com" in html


def test_its_owner_sees_them_in_full(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    told(crawl)
    assert "me@example.com" in log(as_ann, crawl)
    assert "me@example.com" in as_ann.get(f"/crawls/{crawl.id}/status").json()["texts"]["receipt_json"]


def test_a_secret_address_is_shown_to_nobody(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    told(crawl, transport="slack", address=seal_address("https://hooks.slack.com/services/secret"))
    html = log(as_ann, crawl)
    assert "https://hooks.slack.com/…" in html
    assert "secret" not in html


def test_of_pages_the_crawls_page_counts_the_notices(as_ann: Client, ann: User) -> None:
    options = CrawlOptions(notify_webhooks=("https://example.com/hook",), notify_events=("crawl.page",))
    crawl = a_finished_crawl(ann, options=options)
    for number in range(3):
        notice = Notice.objects.create(crawl=crawl, event="crawl.page", number=number, pages=[1, 2])
        Delivery.objects.create(notice=notice, transport="webhook", address="https://example.com/hook")
    (row,) = as_ann.get(f"/crawls/{crawl.id}/status").json()["lists"]["notices"]
    assert (row["event"], row["address"], row["state"]) == ("pages", "3 notices", "being sent")
    assert log(as_ann, crawl).count("2 pages") == 3
