"""After a crawl with every kind of secret was started, fetched for and told of, none stands anywhere in plain: not in a
row, not in Redis (where RQ packs its jobs), not in the log."""

import logging
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from redis import Redis

from crawler.accounts.tokens import make_token
from crawler.core.access.permissions import Scope
from crawler.manager.tick import manage
from crawler.models import Crawl, Delivery, RepeatedCall, Schedule
from tests.api.calling import Caller, a_token
from tests.bench import Bench
from tests.factories import a_person
from tests.http.proxy import ProxyServer
from tests.site import Reply, Site, page


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A site with a receiver that takes what is posted to it; the others refuse for good, so that nothing waits."""
    pages = {"/": page("/a"), "/a": page(), "/services/swordfish-7": Reply("ok")}
    pages["/login"] = '<form method="post" action="/in"><input type="password" name="password"></form>'
    pages["/in"] = Reply(page(), headers={"Set-Cookie": "sid=swordfish-11; Path=/"})
    with Site(pages).serving() as site:
        yield Bench(site)


@pytest.fixture
def proxy() -> Iterator[ProxyServer]:
    with ProxyServer() as server:
        yield server


def typed(bench: Bench, proxy: ProxyServer) -> dict[str, Any]:
    """What a person types: every kind of secret there is."""
    here = bench.site.host
    return {
        "start_urls": f"{bench.site.url}/",
        "allow_private": "on",
        "headers": "X-Key: swordfish-1",
        "cookies": "a=swordfish-2",
        "auth": "ann:swordfish-3",
        "proxy": f"http://me:swordfish-4@127.0.0.1:{proxy.port}",
        "login_url": f"{bench.site.url}/login",
        "login_fields": "password=swordfish-10",
        "notify_webhooks": f"http://u:swordfish-5@{here}/hook/swordfish-9?token=swordfish-6",
        "notify_slack": f"http://{here}/services/swordfish-7",
        "notify_discord": f"http://{here}/api/webhooks/swordfish-8",
    }


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row there is, with the name of its table."""
    for model in apps.get_models():
        if model._meta.managed:
            for row in model._default_manager.values():
                yield model.__name__, row
    for session in Session.objects.all():
        yield "Session", {"what is packed in it": session.get_decoded()}


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


def nowhere(redis: Redis) -> None:
    """Fails where one stands in a table or in Redis."""
    assert in_tables() == []
    assert in_redis(redis) == []


@pytest.mark.django_db(transaction=True)
def test_no_secret_is_kept_in_plain(
    real_redis: Redis, bench: Bench, proxy: ProxyServer, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CRAWLER_PRIVATE_HOSTS = ["127.0.0.1"]  # for the channel
    browser, secrets = Client(), typed(bench, proxy)
    browser.force_login(a_person("root", superuser=True))
    with caplog.at_level(logging.DEBUG):
        assert browser.post("/crawls/", {**secrets, "schedule": "every 6h"}).status_code == 302
        channel = {"transport": "webhook", "address": secrets["notify_webhooks"], "events": ["crawl.finished"]}
        assert "whsec_" in browser.post("/account/notifications/add", channel).content.decode()
        bench.crawl = Crawl.objects.get()
        manage(bench.crawl.id)  # which hands a batch to RQ
        assert any(key.startswith(b"rq:job:fetch-") for key in real_redis.scan_iter("*"))
        nowhere(real_redis)
        bench.work()
    assert bench.state() == "finished"
    assert Schedule.objects.get().sealed
    assert {"Basic", "X-Key: swordfish-1", "a=swordfish-2", "sid=swordfish-11"} <= sent(proxy)
    assert bench.site.hits["/in"] == 1
    tried = Delivery.objects.filter(attempts__gt=0).values_list("transport", "state")
    assert set(tried) == {("webhook", "given_up"), ("slack", "delivered"), ("discord", "given_up")}
    nowhere(real_redis)
    assert "swordfish" not in caplog.text


def sent(proxy: ProxyServer) -> set[str]:
    """Those of the secrets that were used."""
    heads = "".join(proxy.heads)
    return {what for what in ("Basic", "X-Key: swordfish-1", "a=swordfish-2", "sid=swordfish-11") if what in heads}


@pytest.mark.django_db
def test_no_secret_stands_in_the_answers_kept_for_calls_that_are_sent_twice(
    real_redis: Redis, bench: Bench, proxy: ProxyServer
) -> None:
    lists = {"start_urls", "headers", "notify_webhooks", "notify_slack", "notify_discord"}
    secrets = {name: [value] if name in lists else value for name, value in typed(bench, proxy).items()}
    by_root = Caller(a_token(a_person("root", superuser=True), *Scope))
    secrets |= {name: [secrets[name]] for name in ("cookies", "login_fields")} | {"allow_private": True}
    assert by_root.post("/crawls", secrets, Idempotency_Key="k-1").status_code == 201
    assert RepeatedCall.objects.get().body
    nowhere(real_redis)


@pytest.mark.django_db
def test_the_secret_of_a_token_is_kept_nowhere() -> None:
    _, secret = make_token(User.objects.create_user("ann"), "nightly", ["crawls:read"], now=timezone.now())
    stored = str(list(rows()))
    assert secret not in stored
    assert secret[8:] not in stored
