"""The clock survives outages, and logs them only once a minute."""

import logging
import signal
import time
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.contrib.auth.models import User
from django.utils import timezone

from crawler.accounts.idempotency import RESPONSE_TTL, claim
from crawler.core.options.catalogue import CrawlOptions
from crawler.management.commands.clock import Clock
from crawler.models import Answer, Crawl, RepeatedCall, Schedule
from tests.conftest import free_port
from tests.factories import make_crawl, make_page
from tests.stack import Stack

pytestmark = pytest.mark.django_db(transaction=True)  # the connection is closed on the way


def test_a_tick_wakes_a_crawl_that_shows_no_sign_of_life(real_redis: redis.Redis) -> None:
    crawl = make_crawl(discovered=1)
    make_page(crawl, "http://site.test/")
    Clock().tick(now=0.0)
    assert real_redis.llen("rq:queue:crawl") == 1


def test_a_tick_begins_the_run_of_a_schedule_that_is_due(real_redis: redis.Redis) -> None:
    options = CrawlOptions(private_hosts=("*",)).to_plain()
    schedule = Schedule.objects.create(
        start_urls=["http://127.0.0.1:8/"], options=options, rule="every 1h", next_at=timezone.now()
    )
    for now in (0.0, 1.0):
        Clock().tick(now)
    assert Crawl.objects.filter(schedule=schedule).count() == 1
    assert real_redis.llen("rq:queue:crawl") == 1


def test_a_tick_deletes_answers_that_are_too_old(real_redis: redis.Redis) -> None:
    Answer.objects.create(key=b"0" * 16, stored_at=1.0, result=b"")
    Clock().tick(now=0.0)
    assert not Answer.objects.exists()


def test_a_tick_deletes_answers_for_which_there_is_no_room(real_redis: redis.Redis, settings: Any) -> None:
    settings.CRAWLER_CACHE_MB = 0.001
    Answer.objects.create(key=b"0" * 16, stored_at=time.time() - 9, result=b"", bytes=900)
    Answer.objects.create(key=b"1" * 16, stored_at=time.time(), result=b"", bytes=900)
    Clock().tick(now=0.0)
    assert [bytes(answer.key) for answer in Answer.objects.all()] == [b"1" * 16]


def test_a_tick_deletes_what_was_kept_for_long_enough_once_a_minute(real_redis: redis.Redis, settings: Any) -> None:
    settings.CRAWLER_KEEP_DAYS = 30
    long_ago = timezone.now() - timedelta(days=31)
    clock = Clock()
    for now, left in ((0.0, 1), (1.0, 1), (59.0, 1), (61.0, 0)):
        clock.tick(now)
        if now == 0.0:  # it found nothing to delete, so it looks again in a minute
            make_crawl(state="finished", finished_at=long_ago)
            continue
        assert Crawl.objects.count() == left, now


def test_a_tick_forgets_calls_of_the_api_that_are_too_old(real_redis: redis.Redis) -> None:
    claim(User.objects.create_user("ann"), "key", "digest", timezone.now() - RESPONSE_TTL)
    Clock().tick(now=0.0)
    assert not RepeatedCall.objects.exists()


def test_a_redis_that_is_away_is_said_once_a_minute_until_it_is_back(
    real_redis: redis.Redis, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    clock, there = Clock(), settings.REDIS_URL
    with caplog.at_level(logging.INFO):
        settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
        for now in (0.0, 1.0, 59.0, 61.0, 62.0):
            clock.tick(now)
        settings.REDIS_URL = there
        for now in (63.0, 64.0):
            clock.tick(now)
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "The clock waits",
        "The clock waits",
        "The clock continues.",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_it_ends_without_a_word_when_it_is_told_to(stack: Stack, number: signal.Signals) -> None:
    clock = stack.spawn("python", "manage.py", "clock")
    stack.wait_for(lambda: stack.redis.dbsize() > 0)  # it has looked once
    clock.send_signal(number)
    assert clock.wait(10) == 0
    assert "Traceback" not in stack.log()
