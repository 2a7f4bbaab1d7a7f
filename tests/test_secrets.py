"""After a crawl with every kind of secret was started, fetched for and told of, none stands anywhere in plain: not in a
row, not in Redis (where RQ packs its jobs), not in the log."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from redis import Redis

from crawler.core.outcomes import Outcome
from crawler.engine.control import cancel
from crawler.engine.manage import manage
from crawler.models import Crawl, Schedule
from crawler.tokens import make_token
from tests.web.factories import a_page, a_person

URL = "http://127.0.0.1:8/"
TYPED = {
    "start_urls": URL,
    "allow_private": "on",
    "schedule": "every 6h",
    "headers": "X-Key: swordfish-1",
    "cookies": "a=swordfish-2",
    "auth": "ann:swordfish-3",
    "proxy": "http://me:swordfish-4@127.0.0.1:8",
    "notify_webhooks": "http://u:swordfish-5@127.0.0.1:8/hook/swordfish-9?token=swordfish-6",
    "notify_slack": "http://127.0.0.1:8/services/swordfish-7",
    "notify_discord": "http://127.0.0.1:8/api/webhooks/swordfish-8",
}


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row there is, with the name of its table."""
    for model in apps.get_models():
        if model._meta.managed:
            for row in model._default_manager.values():
                yield model.__name__, row


def in_tables() -> list[str]:
    """Where in the database it stands."""
    return [f"{table}.{name}" for table, row in rows() for name, value in row.items() if "swordfish" in _text(value)]


def _text(value: Any) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)


def in_redis(redis: Redis) -> list[bytes]:
    """Which of its keys have it in them, packed or not."""
    return [key for key in redis.scan_iter("*") if any(b"swordfish" in _unpacked(part) for part in _parts(redis, key))]


def _parts(redis: Redis, key: bytes) -> list[bytes]:
    match redis.type(key):
        case b"string":
            return [redis.get(key) or b""]  # type: ignore[list-item]  # this client answers at once
        case b"list":
            return redis.lrange(key, 0, -1)  # type: ignore[return-value]  # the same, and below
        case b"set":
            return list(redis.smembers(key))  # type: ignore[arg-type]
        case b"zset":
            return redis.zrange(key, 0, -1)  # type: ignore[return-value]
        case b"hash":
            return [part for pair in redis.hgetall(key).items() for part in pair]  # type: ignore[union-attr]
    return []


def _unpacked(part: bytes) -> bytes:
    try:
        return part + zlib.decompress(part)
    except zlib.error:
        return part


@pytest.mark.django_db
def test_no_secret_is_kept_in_plain(real_redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    root, browser = a_person("root", superuser=True), Client()
    browser.force_login(root)
    with caplog.at_level(logging.DEBUG):
        assert browser.post("/crawls/", TYPED).status_code == 302
        channel = {"transport": "webhook", "address": TYPED["notify_webhooks"], "events": ["crawl.finished"]}
        browser.post("/account/notifications/add", channel)
        crawl = Crawl.objects.get()
        manage(crawl.id)  # which hands a batch to RQ
        a_page(crawl, f"{URL}failed", Outcome.CONNECT, given_up=True)
        cancel(crawl.id)  # which tells everybody
    assert Schedule.objects.get().sealed
    assert any(key.startswith(b"rq:job:fetch-") for key in real_redis.scan_iter("*"))
    assert in_tables() == []
    assert in_redis(real_redis) == []
    assert "swordfish" not in caplog.text


@pytest.mark.django_db
def test_the_secret_of_a_token_is_kept_nowhere() -> None:
    _, secret = make_token(User.objects.create_user("ann"), "nightly", ["crawls:read"], now=timezone.now())
    stored = str(list(rows()))
    assert secret not in stored
    assert secret[8:] not in stored
