"""Every deed that the verbs note is in the audit log once it is done: one line of the table for each."""

import ast
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from redis import ConnectionError as RedisIsAway

import crawler
from crawler.accounts.login_links import accept, invite, link_for, make_link
from crawler.accounts.logins import end_sessions
from crawler.accounts.tokens import make_token, revoke
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import ServiceDown
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.events import Event
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.placement import Placement
from crawler.crawls import control, kept_extraction, schedules, start
from crawler.crawls.change import change
from crawler.crawls.control import keep, share
from crawler.crawls.delete import delete
from crawler.crawls.retry import release, retry_failed
from crawler.manager.add import add, ask_again
from crawler.manager.host_waits import end_host_waits
from crawler.models import AuditEntry, Channel, Crawl, Schedule
from crawler.notices.delivery import resend
from crawler.notices.user_channels import ChannelValues, add_channel, change_channel, remove_channel, switch_channel
from crawler.notices.webhook_secrets import make_secret
from crawler.queueing import queues
from crawler.web.rq_permissions import ROOT
from tests.factories import a_crawl, a_delivery, a_finished_crawl, a_group, a_page, a_person
from tests.stops import stop_host
from tests.web.crawl.test_schedules import a_schedule
from tests.web.crawl.test_traps import a_trap

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]

HERE = "http://127.0.0.1:8/"
WANTED = ChannelValues(name="", transport="email", address="ann@example.com", events=(Event.FINISHED,))


def _started(ann: User) -> Crawl:
    return start.start_crawl([HERE], CrawlOptions(), owner=ann, allow_private=True)


def _not_started(ann: User) -> None:
    def away(*_: object) -> None:
        raise RedisIsAway

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control, "wake", away)  # between the commit and this moment it went
        with pytest.raises(ServiceDown):
            _started(ann)


def _paused(ann: User) -> Crawl:
    crawl = a_crawl(ann)
    control.pause(crawl.id)
    return crawl


def _retried(ann: User) -> None:
    crawl = a_finished_crawl(ann, discovered=1, outcomes={"timeout": 1}, statuses={})
    a_page(crawl, answer=Outcome.TIMEOUT, given_up=True)
    retry_failed(crawl.id)


def _asked_again(ann: User) -> None:
    crawl = a_finished_crawl(ann, discovered=1, outcomes={"2xx": 1}, statuses={"200": 1})
    ask_again(crawl.id, [a_page(crawl).pk])


def _traps_released(ann: User) -> None:
    crawl = a_finished_crawl(ann, discovered=1, outcomes={"trap": 1}, statuses={})
    a_trap(crawl)
    release(crawl.id)


def _host_forgotten(ann: User) -> None:
    stop_host(queues.connection(), "example.com", 60, time.time())
    end_host_waits("example.com")
    end_host_waits("example.com")  # there is nothing left to forget


def _kept(ann: User) -> Crawl:
    crawl = a_crawl(ann)
    keep(crawl, is_kept=True)
    return crawl


def _sent_again(ann: User) -> None:
    crawl = a_crawl(ann)
    resend(crawl, a_delivery(crawl).id)


def _schedule_made(ann: User) -> None:
    start.start_crawl([HERE], CrawlOptions(), "every 6h", owner=ann, allow_private=True)


def _extracted_again(ann: User) -> None:
    rules = (FieldRule(name="heading", selector="h1"),)
    kept_extraction.start(a_crawl(ann, options=CrawlOptions(keep=("html",), fields=rules)))


def _schedule_paused(ann: User) -> Schedule:
    schedule = a_schedule(ann)
    schedules.pause_schedule(schedule.id)
    return schedule


def _channel(ann: User) -> Channel:
    return add_channel(ann, WANTED)[0]


def _channel_paused(ann: User) -> Channel:
    channel = _channel(ann)
    switch_channel(channel.id, on=False)
    return channel


def _token_revoked(ann: User) -> None:
    token, _ = make_token(ann, "nightly", ["crawls:read"], now=timezone.now())
    revoke(ann, token.pk, timezone.now())


def _sealed_anew(ann: User) -> None:
    a_delivery(a_crawl(ann), "https://example.com/hook", transport="webhook")  # as an earlier version stored it
    call_command("reseal", stdout=StringIO())


def _queue_changed(ann: User) -> None:
    browser = Client()
    browser.force_login(a_person("root", superuser=True))
    browser.post(f"{ROOT}queues/0/empty/")


DEEDS: dict[str, Callable[[User], object]] = {
    "crawl.started": _started,
    "crawl.not_started": _not_started,
    "crawl.paused": _paused,
    "crawl.resumed": lambda ann: control.resume(_paused(ann).id),
    "crawl.cancelled": lambda ann: control.cancel(a_crawl(ann).id),
    "crawl.finish_requested": lambda ann: control.finish(a_crawl(ann, options=CrawlOptions(stay_open=True)).id),
    "crawl.changed": lambda ann: change(a_crawl(ann).id, {"delay": 2.0}, by=OPERATOR),
    "crawl.deleted": lambda ann: delete(a_crawl(ann).id),
    "crawl.retried": _retried,
    "crawl.added_to": lambda ann: add(a_crawl(ann).id, ["https://example.com/new"], Placement(), by=OPERATOR),
    "crawl.asked_again": _asked_again,
    "crawl.traps_released": _traps_released,
    "crawl.kept": _kept,
    "crawl.extracted_again": _extracted_again,
    "host.forgotten": _host_forgotten,
    "crawl.not_kept": lambda ann: keep(_kept(ann), is_kept=False),
    "crawl.shared": lambda ann: share(a_crawl(ann), ann, a_group("editors", ann)),
    "notice.sent_again": _sent_again,
    "schedule.made": _schedule_made,
    "schedule.paused": _schedule_paused,
    "schedule.resumed": lambda ann: schedules.resume_schedule(_schedule_paused(ann).id),
    "schedule.removed": lambda ann: schedules.remove_schedule(a_schedule(ann).id),
    "schedule.shared": lambda ann: share(a_schedule(ann), ann, a_group("editors", ann)),
    "channel.added": _channel,
    "channel.changed": lambda ann: change_channel(_channel(ann), WANTED),
    "channel.paused": _channel_paused,
    "channel.resumed": lambda ann: switch_channel(_channel_paused(ann).id, on=True),
    "channel.removed": lambda ann: remove_channel(_channel(ann)),
    "webhook.secret_made": lambda ann: make_secret(ann.pk, "https://example.com/hook"),
    "token.made": lambda ann: make_token(ann, "nightly", ["crawls:read"], now=timezone.now()),
    "token.revoked": _token_revoked,
    "sessions.ended": end_sessions,
    "invitation.made": lambda ann: link_for(invite("bob@example.com"), ""),
    "invitation.accepted": lambda ann: accept(invite("bob@example.com"), "correct horse"),
    "login_link.made": lambda ann: make_link("", ann),
    "login.failed": lambda ann: Client().post("/login/", {"username": "ann", "password": "wrong"}),
    "queue.changed": _queue_changed,
    "secrets.sealed_anew": _sealed_anew,
}


@pytest.mark.parametrize("act", DEEDS)
def test_what_is_done_is_noted_once(act: str, settings: Any) -> None:
    settings.CRAWLER_LOGIN_TRIES = 10
    DEEDS[act](a_person("ann", superuser=True))
    assert AuditEntry.objects.filter(act=act).count() == 1


def test_the_table_has_every_deed_that_is_noted() -> None:
    noted = {act for file in Path(crawler.__path__[0]).rglob("*.py") for act in noted_in(file.read_text())}
    assert noted == set(DEEDS)


def noted_in(source: str) -> Iterator[str]:
    """What calls of `audit.note` in there may say; of one that is made up of parts, each thing that can be shared."""
    if "audit.note(" not in source:
        return
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "audit.note":
            act = call.args[0]
            made_up = isinstance(act, ast.JoinedStr)
            ends = [str(part.value) for part in ast.walk(act) if isinstance(part, ast.Constant)]
            yield from (f"{item}{end}" for end in ends for item in (("crawl", "schedule") if made_up else ("",)))
