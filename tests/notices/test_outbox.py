"""Who is told of what happens to a crawl, and when it is written down: in the transaction that makes it true."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from crawler.core.channels.catalogue import SEALED
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import Event
from crawler.crawls import control
from crawler.crawls.reconcile import scan
from crawler.crawls.retry import retry_failed
from crawler.crawls.start import start_crawl
from crawler.encryption import opened_address
from crawler.models import Channel, Crawl, Delivery, Notice
from crawler.notices import delivery as announcing
from crawler.notices import outbox
from crawler.notices.delivery import deliver_due
from crawler.notices.outbox import MAX_PAGES_PER_NOTICE, add_notice, add_page_notice, receivers_of
from crawler.queueing import queues
from crawler.queueing.duties import Scan
from crawler.reports.receipt import receipt_of
from tests.bench import Bench
from tests.site import Reply, page

EVERYTHING = tuple(event.value for event in Event if event is not Event.TEST)
HOOKED = {"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": Reply(status=404), "/hook": Reply()}


def told(crawl: Crawl) -> list[str]:
    """The events of a crawl's notices, in the order in which they became true."""
    return list(Notice.objects.filter(crawl=crawl).order_by("created_at").values_list("event", flat=True))


def posts(bench: Bench, path: str = "/hook") -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in bench.site.requests if request.path == path]


def hook(bench: Bench) -> str:
    return f"{bench.site.url}/hook"


def send_what_is_left() -> None:
    """As often as there is anything to be sent; pages are gathered for a moment first."""
    while Delivery.objects.filter(state=Delivery.PENDING).exists():
        Delivery.objects.filter(state=Delivery.PENDING).update(due_at="2000-01-01T00:00Z")
        deliver_due()


@pytest.mark.site(HOOKED)
def test_a_receiver_is_notified_of_start_pause_and_end(bench: Bench) -> None:
    crawl = bench.start(
        notify_webhooks=(hook(bench),), notify_events=("crawl.started", "crawl.paused", "crawl.finished")
    )
    control.pause(crawl.id)
    control.resume(crawl.id)
    control.pause(crawl.id)
    control.resume(crawl.id)
    bench.work()
    assert told(crawl) == ["crawl.started", "crawl.paused", "crawl.paused", "crawl.finished"]
    assert [notice.number for notice in Notice.objects.filter(event="crawl.paused").order_by("number")] == [0, 1]
    send_what_is_left()
    said = {(post["event"], post["number"], post["receipt"]["state"]) for post in posts(bench)}
    assert said == {
        ("crawl.started", 0, "running"),
        ("crawl.paused", 0, "paused"),
        ("crawl.paused", 1, "paused"),
        ("crawl.finished", 0, "finished"),
    }


def test_by_default_only_the_end_is_notified(bench: Bench) -> None:
    crawl = bench.start(notify_emails=("me@example.com",))
    control.pause(crawl.id)
    control.resume(crawl.id)
    bench.work()
    assert told(crawl) == ["crawl.finished"]


@pytest.mark.site({"/": Reply(status=404)})
def test_a_crawl_whose_start_page_gives_nothing_has_failed_although_it_is_finished(bench: Bench) -> None:
    crawl = bench.start(notify_emails=("me@example.com",))
    bench.work()
    assert bench.state() == "finished"
    assert told(crawl) == ["crawl.failed"]


@pytest.mark.site({"/": page(), "/gone": Reply(status=404)})
def test_one_start_page_of_two_is_enough_not_to_fail(bench: Bench) -> None:
    urls = [f"{bench.site.url}/", f"{bench.site.url}/gone"]
    bench.crawl = start_crawl(urls, CrawlOptions(), allow_private=True)
    bench.work()
    assert told(bench.crawl) == ["crawl.finished"]


def test_a_rolled_back_event_is_not_notified(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("crawler.notices.outbox.receipt_of", fails)
    with pytest.raises(RuntimeError):
        bench.start(notify_emails=("me@example.com",), notify_events=("crawl.started",))
    assert not Notice.objects.exists()
    assert not Crawl.objects.exists()


def test_the_receipt_of_a_start_follows_from_the_row_of_the_crawl(bench: Bench, django_assert_num_queries: Any) -> None:
    crawl = Crawl.objects.get(id=bench.start().id)
    with django_assert_num_queries(0):
        assert receipt_of(crawl)["discovered"] == 1


@pytest.mark.site({"/": page("/bad"), "/bad": lambda before: Reply(status=200 if before >= 3 else 503)})
def test_a_crawl_that_goes_on_has_started_again(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_ATTEMPTS = 1
    crawl = bench.start(notify_emails=("me@example.com",), notify_events=("crawl.started",))
    bench.work()
    assert retry_failed(crawl.id) == 1
    assert [notice.round for notice in Notice.objects.filter(event="crawl.started").order_by("round")] == [1, 2]


# Pages


@pytest.mark.site(HOOKED)
def test_every_requested_page_is_notified_once(bench: Bench) -> None:
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=EVERYTHING)
    bench.work()
    send_what_is_left()
    rows = [row for post in posts(bench) if post["event"] == "crawl.page" for row in post["pages"]]
    assert sorted(row["url"] for row in rows) == [f"{bench.site.url}{path}" for path in ("/", "/a", "/b", "/c")]
    assert {row["http_status"] for row in rows} == {200, 404}
    receipt = next(post["receipt"] for post in posts(bench) if post["event"] == "crawl.finished")
    assert len(rows) == receipt["fetched"] + receipt["failed"] == crawl.pages.count()


@pytest.mark.site(HOOKED)
def test_without_page_notices_pages_cost_nothing(bench: Bench) -> None:
    bench.start(notify_webhooks=(hook(bench),))
    bench.work()
    assert not Notice.objects.filter(event=Event.PAGE).exists()


def test_pages_are_gathered_in_one_notice_until_it_is_sent(bench: Bench) -> None:
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.page",))
    add_page_notice(crawl, [1])
    add_page_notice(crawl, [2, 3])
    Notice.objects.update(gathering=False)
    add_page_notice(crawl, [4])
    assert [notice.pages for notice in Notice.objects.order_by("number")] == [[1, 2, 3], [4]]
    assert Delivery.objects.count() == 2


def test_a_notice_that_is_full_takes_no_more_pages(bench: Bench) -> None:
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.page",))
    add_page_notice(crawl, list(range(MAX_PAGES_PER_NOTICE)))
    add_page_notice(crawl, [999])
    assert [len(notice.pages) for notice in Notice.objects.order_by("number")] == [MAX_PAGES_PER_NOTICE, 1]


def deliver_three_pages(bench: Bench) -> None:
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.page",))
    for number in range(3):
        add_page_notice(crawl, [number])
        Notice.objects.update(gathering=False)
    Delivery.objects.update(due_at="2000-01-01T00:00Z")
    deliver_due()


@pytest.mark.site({**HOOKED, "/hook": Reply(status=503)})
def test_a_receiver_that_is_away_is_tried_once_for_all_its_pages(bench: Bench) -> None:
    deliver_three_pages(bench)
    assert bench.site.hits["/hook"] == 1
    assert len(set(Delivery.objects.values_list("due_at", flat=True))) == 1


@pytest.mark.site({**HOOKED, "/hook": Reply(status=410)})
def test_what_is_left_for_a_receiver_that_is_gone_is_given_up_with_it(bench: Bench) -> None:
    deliver_three_pages(bench)
    assert bench.site.hits["/hook"] == 1
    assert set(Delivery.objects.values_list("state", flat=True)) == {Delivery.GIVEN_UP}


@pytest.mark.site(HOOKED)
def test_while_a_crawl_runs_sending_pages_rests_after_each_go(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        announcing, "PAGE_NOTICES_PAUSE_FACTOR", 10_000
    )  # of the milliseconds that it takes: beyond this test
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.page",))
    add_page_notice(crawl, [1])
    Delivery.objects.update(due_at="2000-01-01T00:00Z")
    deliver_due()
    Notice.objects.update(gathering=False)
    add_page_notice(crawl, [2])
    Delivery.objects.filter(state=Delivery.PENDING).update(due_at="2000-01-01T00:00Z")
    deliver_due()
    assert bench.site.hits["/hook"] == 1


@pytest.mark.site(HOOKED)
def test_meanwhile_no_notify_job_is_sent(bench: Bench) -> None:
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.page",))
    add_page_notice(crawl, [1])
    Delivery.objects.update(due_at="2000-01-01T00:00Z")
    queues.end_page_notices(100.0)
    found = scan()
    assert (found.pending, bench.jobs("crawl").count("deliver the notices of crawls")) == (1, 0)
    assert found.next_in is not None
    queues.end_page_notices(0.0)
    scan()
    assert bench.jobs("crawl").count("deliver the notices of crawls") == 1


@pytest.mark.site(HOOKED)
def test_nothing_is_due_before_a_notify_job_that_was_sent_counts_as_lost(bench: Bench) -> None:
    """Else an idle worker would look at all crawls twenty times a second until then."""
    bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.started",))
    now = Scan()
    (due_at,) = outbox.send_due(now).moments
    assert due_at > now.now + queues.NOTIFY_RESEND_S / 2


@pytest.mark.site({**HOOKED, "/hook": Reply(status=503)})
def test_a_receiver_of_pages_that_fails_keeps_nothing_else_waiting(bench: Bench) -> None:
    crawl = bench.start(notify_webhooks=(hook(bench),), notify_events=("crawl.page",))
    add_page_notice(crawl, [1])
    assert not outbox.pending().exists()
    add_notice(crawl, Event.FINISHED)
    assert not outbox.pending().exists()  # nobody asked for the end
    assert outbox.pending_pages().count() == 1


# Receivers


def a_channel(owner: User, **fields: Any) -> Channel:
    values: dict[str, Any] = {"transport": "email", "address": "ann@example.com", **fields}
    return Channel.objects.create(owner=owner, **values)


def test_the_owners_channels_are_notified_of_every_crawl(bench: Bench) -> None:
    ann = User.objects.create_superuser("ann")
    channel = a_channel(ann, events=["crawl.finished"])
    a_channel(ann, address="off@example.com", enabled=False)
    a_channel(User.objects.create_user("bob"), address="bob@example.com")
    crawl = start_crawl([f"{bench.site.url}/"], CrawlOptions(), owner=ann, allow_private=True)
    assert [(to.stored_address, to.channel) for to in receivers_of(crawl, Event.FINISHED)] == [
        ("ann@example.com", channel.id)
    ]
    assert receivers_of(crawl, Event.CANCELLED) == []


def test_a_receiver_that_is_named_twice_is_notified_once(bench: Bench) -> None:
    ann = User.objects.create_superuser("ann")
    a_channel(ann)
    options = CrawlOptions(notify_emails=("ann@example.com", "other@example.com"))
    crawl = start_crawl([f"{bench.site.url}/"], options, owner=ann, allow_private=True)
    assert [to.stored_address for to in receivers_of(crawl, Event.FINISHED)] == ["ann@example.com", "other@example.com"]


def test_only_webhooks_get_page_notices(bench: Bench) -> None:
    crawl = bench.start(
        notify_webhooks=(hook(bench),), notify_emails=("me@example.com",), notify_events=("crawl.page",)
    )
    assert [opened_address(to.stored_address) for to in receivers_of(crawl, Event.PAGE)] == [hook(bench)]


def test_to_ask_for_pages_without_a_webhook_is_refused(bench: Bench) -> None:
    with pytest.raises(BadInput, match="Only webhooks receive page notices"):
        bench.start(notify_emails=("me@example.com",), notify_events=("crawl.page",))


def test_a_secret_address_is_stored_encrypted_and_in_no_receipt(bench: Bench) -> None:
    address = f"{bench.site.url}/services/T/B/secret"
    crawl = bench.start(notify_slack=(address,))
    (stored,) = Crawl.objects.get().chosen.notify_slack
    assert stored.startswith(SEALED)
    assert opened_address(stored) == address
    bench.work()
    notice = Notice.objects.get(crawl=crawl)
    assert "secret" not in json.dumps(notice.receipt)
    assert notice.receipt["notifications"][0]["address"] == f"{bench.site.url}/…"
    assert "secret" not in Delivery.objects.get().address


@pytest.mark.site({"/": "", "/services/T": Reply("ok"), "/api/webhooks/1": Reply(status=204)})
def test_slack_and_discord_get_their_own_formats(bench: Bench) -> None:
    bench.start(notify_slack=(f"{bench.site.url}/services/T",), notify_discord=(f"{bench.site.url}/api/webhooks/1",))
    bench.work()
    assert set(Delivery.objects.values_list("state", flat=True)) == {Delivery.DELIVERED}
    assert {delivery.answer for delivery in Delivery.objects.all()} == {
        "the receiver returned 200",
        "the receiver returned 204",
    }
    (to_slack,), (to_discord,) = posts(bench, "/services/T"), posts(bench, "/api/webhooks/1")
    assert to_slack["blocks"][0]["text"]["text"].startswith("Crawl finished: ")
    assert to_discord["allowed_mentions"] == {"parse": []}
