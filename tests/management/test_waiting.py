import time
from datetime import timedelta
from itertools import groupby
from threading import Timer
from typing import Any
from unittest.mock import Mock

import pytest
import redis as redis_package
from django.utils import timezone

from crawler.core.errors import ServiceDown
from crawler.core.installation.backpressure import Shortage
from crawler.core.protocol.completion import State
from crawler.crawls.control import cancel
from crawler.frontier import capacity
from crawler.frontier.autoscalers import Membership
from crawler.frontier.keys import end_channel
from crawler.management import waiting
from crawler.management.base import NO_WORKER
from crawler.management.waiting import PAUSED_ELSEWHERE, CrawlWait, Stop, WaitEnd, wait_for_notices
from crawler.models import Crawl, Delivery, Notice
from crawler.queueing import queues
from crawler.queueing.end_signal import EndSignal, announce_end
from crawler.reports.cause_text import paused_for, waits_for
from crawler.reports.diagnosis import waits_because
from crawler.reports.explanation import AUTOSCALED
from tests.factories import make_crawl

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


def finish(crawl: Crawl) -> None:
    Crawl.objects.filter(pk=crawl.pk).update(state=State.FINISHED)


def ignore(_: object) -> None:
    pass


def test_a_crawl_that_is_over_is_not_waited_for() -> None:
    crawl = make_crawl(state=State.FINISHED)
    assert CrawlWait(ignore, ignore).until_over(crawl, Stop(), timeout=None) is WaitEnd.OVER


def test_it_waits_until_the_crawl_is_over_and_brings_it_up_to_date() -> None:
    crawl = make_crawl()
    assert CrawlWait(finish, ignore).until_over(crawl, Stop(), timeout=None) is WaitEnd.OVER
    assert crawl.state == State.FINISHED


def test_the_end_of_the_crawl_wakes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "POLL_INTERVAL_S", 60.0)

    def finish_soon(crawl: Crawl) -> None:
        finish(crawl)
        Timer(0.2, announce_end, [str(crawl.id)]).start()

    began = time.monotonic()
    assert CrawlWait(finish_soon, ignore).until_over(make_crawl(), Stop(), timeout=None) is WaitEnd.OVER
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("redis_answers", [True, False])
def test_a_crawl_that_ends_unheard_is_seen_in_its_row(redis_answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not redis_answers:
        monkeypatch.setattr(EndSignal, "_subscription", Mock(side_effect=redis_package.ConnectionError))
    shown = list[State]()

    def finish_at_the_second_look(crawl: Crawl) -> None:
        shown.append(State(crawl.state))
        if len(shown) == 2:
            finish(crawl)

    began, crawl = time.monotonic(), make_crawl()
    assert CrawlWait(finish_at_the_second_look, ignore).until_over(crawl, Stop(), timeout=None) is WaitEnd.OVER
    assert shown == [State.RUNNING, State.RUNNING, State.FINISHED]
    assert time.monotonic() - began >= waiting.POLL_INTERVAL_S


def test_a_crawl_that_a_user_cancels_is_announced_once_that_is_committed(
    django_capture_on_commit_callbacks: Any,
) -> None:
    crawl = make_crawl()
    with queues.connection().pubsub(ignore_subscribe_messages=True) as heard:
        heard.subscribe(end_channel(str(crawl.id)))
        with django_capture_on_commit_callbacks(execute=True):
            cancel(crawl.id)
            assert heard.get_message(timeout=0.2) is None  # the confirmation of the subscription
            assert heard.get_message(timeout=0.2) is None
        assert heard.get_message(timeout=30) is not None


def test_it_ends_when_somebody_asks_it_to() -> None:
    stop = Stop()
    stop.signal = 2
    assert CrawlWait(ignore, ignore).until_over(make_crawl(), stop, timeout=None) is WaitEnd.STOPPED


@pytest.mark.parametrize(("is_autoscaled", "line"), [(False, NO_WORKER), (True, AUTOSCALED)])
def test_it_says_once_that_nobody_works(is_autoscaled: bool, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WORKER_CHECK_AFTER_S", 0.0)
    if is_autoscaled:
        Membership(0, 1).beat(queues.connection())
    said: list[str] = []
    CrawlWait(ignore, said.append).until_over(make_crawl(), Stop(), timeout=3 * waiting.POLL_INTERVAL_S)
    assert said == [line]


def test_it_says_once_that_the_crawl_was_paused_and_goes_on_waiting() -> None:
    said: list[str] = []
    timeout = 2 * waiting.POLL_INTERVAL_S
    waited = CrawlWait(ignore, said.append).until_over(make_crawl(state=State.PAUSED), Stop(), timeout=timeout)
    assert waited is WaitEnd.TIMED_OUT
    assert said == [PAUSED_ELSEWHERE]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": State.RUNNING}, waits_for(Shortage.DATABASE_FULL)),
        ({"state": State.PAUSED, "held_until": timezone.now()}, paused_for(Shortage.DATABASE_FULL)),
    ],
    ids=["it could not even be paused", "it is paused"],
)
def test_it_says_once_for_want_of_what_a_crawl_is_held(
    fields: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "WORKER_CHECK_AFTER_S", 0.0)
    monkeypatch.setattr(waiting, "reconcile", lambda: None)  # it would let the crawl go on
    crawl, lines = make_crawl(discovered=1), list[str]()
    Crawl.objects.filter(pk=crawl.pk).update(**fields)
    capacity.note_shortage(queues.connection(), Shortage.DATABASE_FULL)
    CrawlWait(ignore, lines.append).until_over(crawl, Stop(), timeout=3 * waiting.POLL_INTERVAL_S)
    assert lines == [said]


@pytest.mark.parametrize(
    "fields",
    [
        {"pause_reason": "the log-in at http://site.test/login has failed"},
        {"held_until": timezone.now() + timedelta(hours=12)},
        {"sealed": "sealed with another key", "discovered": 1},
    ],
    ids=["log-in", "quota", "credentials"],
)
def test_a_hold_that_only_a_person_can_end_ends_the_wait(fields: dict[str, Any]) -> None:
    crawl = make_crawl(state=State.PAUSED, **fields)
    waiting = CrawlWait(ignore, ignore)
    assert waiting.until_over(crawl, Stop(), timeout=30) is WaitEnd.HELD
    assert waiting.held.startswith("It is paused")


@pytest.mark.parametrize("state", [State.RUNNING, State.PAUSED])
def test_a_full_disk_ends_the_wait_once_it_has_lasted(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WORKER_CHECK_AFTER_S", 0.0)
    monkeypatch.setattr(waiting, "SHORTAGE_PATIENCE_S", 0.1)
    monkeypatch.setattr(waiting, "reconcile", lambda: None)  # it would resume the crawl
    held_until = timezone.now() if state is State.PAUSED else None
    crawl = make_crawl(discovered=1, state=state, held_until=held_until)
    capacity.note_shortage(queues.connection(), Shortage.DATABASE_FULL)
    assert CrawlWait(ignore, ignore).until_over(crawl, Stop(), timeout=30) is WaitEnd.HELD


def test_a_full_redis_is_waited_for_because_other_crawls_may_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SHORTAGE_PATIENCE_S", 0.0)
    monkeypatch.setattr(waiting, "reconcile", lambda: None)
    monkeypatch.setattr(capacity, "shortage", lambda *_, **__: Shortage.REDIS_FULL)
    crawl = make_crawl(state=State.PAUSED, held_until=timezone.now())
    timeout = 3 * waiting.POLL_INTERVAL_S
    assert CrawlWait(ignore, ignore).until_over(crawl, Stop(), timeout=timeout) is WaitEnd.TIMED_OUT


@pytest.mark.django_db(transaction=True)  # the connection is closed on the way
def test_a_service_that_stays_away_ends_the_wait_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "OUTAGE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(redis_package.Redis, "execute_command", away)
    said: list[str] = []
    with pytest.raises(ServiceDown, match="Redis does not respond: gone away"):
        CrawlWait(ignore, said.append).until_over(make_crawl(), Stop(), timeout=None)
    assert said == ["Redis does not respond: gone away. Trying again for 0 s."]


@pytest.mark.django_db(transaction=True)  # the connection is closed on the way
def test_a_service_that_comes_back_is_forgiven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_package.Redis, "execute_command", away)
    looks: list[Crawl] = []

    def show(crawl: Crawl) -> None:
        looks.append(crawl)
        if len(looks) == 2:
            monkeypatch.undo()
            finish(crawl)

    said: list[str] = []
    assert CrawlWait(show, said.append).until_over(make_crawl(), Stop(), timeout=None) is WaitEnd.OVER
    assert len(said) == 1


def away(*_: object, **__: object) -> None:
    raise redis_package.ConnectionError("gone away")


def make_delivery(crawl: Crawl, **fields: object) -> Delivery:
    notice = Notice.objects.create(crawl=crawl, event="finished", receipt={})
    return Delivery.objects.create(**{"notice": notice, "transport": "email", "address": "me@site.test", **fields})


def test_a_notice_that_nobody_sends_is_not_waited_for_longer_than_its_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "NOTICE_TIMEOUT_S", 0.2)
    crawl = make_crawl()
    delivery = make_delivery(crawl)
    assert wait_for_notices(crawl, Stop()) == [delivery]


@pytest.mark.parametrize("fields", [{"attempts": 1}, {"state": Delivery.DELIVERED, "attempts": 1}])
def test_a_notice_that_was_tried_is_not_waited_for(fields: dict[str, object]) -> None:
    crawl = make_crawl()
    make_delivery(crawl, **fields)
    assert wait_for_notices(crawl, Stop()) == []


def test_calls_of_a_hook_are_waited_for_as_long_as_some_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "NOTICE_TIMEOUT_S", 0.3)
    crawl = make_crawl()
    delivery = make_delivery(crawl, transport="hook", address="my_hooks.Prices", attempts=1)
    began, calls = time.monotonic(), iter(range(1, 5))

    def made_by_a_worker() -> None:
        if (place := next(calls, None)) is not None:
            Delivery.objects.filter(id=delivery.id).update(place=place)
        time.sleep(0.1)

    monkeypatch.setattr(waiting, "reconcile", made_by_a_worker)
    assert wait_for_notices(crawl, Stop()) == [delivery]
    assert time.monotonic() - began > 0.6


def test_it_tells_why_no_page_closes_until_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "STILL_SECONDS", 0.0)
    monkeypatch.setattr(waiting, "REASON_INTERVAL_S", 0.0)
    reasons: list[str] = []

    def show(crawl: Crawl) -> None:
        if reasons[-1:] == [waits_because(crawl)]:
            Crawl.objects.filter(pk=crawl.pk).update(outcomes={"2xx": 1})
        elif reasons[-1:] == [""] and len(reasons) > 1:
            finish(crawl)

    CrawlWait(show, ignore, reasons.append).until_over(make_crawl(discovered=2), Stop(), timeout=60)
    told = [reason for reason, _ in groupby(reasons)]
    assert told[:3] == [
        "",
        "No worker is running: start one with bin/worker.",
        "",
    ]


def test_while_pages_close_no_reason_is_told() -> None:
    reasons: list[str] = []
    CrawlWait(ignore, ignore, reasons.append).until_over(make_crawl(), Stop(), timeout=3 * waiting.POLL_INTERVAL_S)
    assert reasons == [""]
