"""What an installation that others can reach must have set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawler.core.installation.deployment import Setup, is_guarded, troubles

GOOD = Setup(
    redis_url="redis://:secret@127.0.0.1:6379/0",
    allowed_hosts=("crawler.example.com",),
    base_url="https://crawler.example.com",
    webhook_secret="long and random",
    metrics_token="long and random, too",
    private_hosts=("10.0.0.0/8",),
    has_proxies=True,
    unnamed_proxy="",
    redirects_to_https=False,
    mails_are_files=False,
    content_is_here=True,
    login_tries=10,
)


def test_a_good_one_is_let_be() -> None:
    assert list(troubles(GOOD)) == []


@pytest.mark.parametrize(
    ("wrong", "setting", "is_error"),
    [
        ({"redis_url": "redis://127.0.0.1:6379/0"}, "REDIS_URL", True),
        ({"allowed_hosts": ("*",)}, "ALLOWED_HOSTS", True),
        ({"base_url": "http://crawler.example.com"}, "CRAWLER_BASE_URL", True),
        ({"webhook_secret": ""}, "CRAWLER_WEBHOOK_SECRET", False),
        ({"private_hosts": ("10.0.0.0/8", "*")}, "CRAWLER_PRIVATE_HOSTS", True),
        ({"private_hosts": ("::/0",)}, "CRAWLER_PRIVATE_HOSTS", True),
        ({"metrics_token": ""}, "CRAWLER_METRICS_TOKEN", False),
        ({"metrics_token": "short"}, "CRAWLER_METRICS_TOKEN", False),
        ({"mails_are_files": True}, "EMAIL_URL", False),
        ({"redis_url": "redis://:secret@10.0.0.1:6379/0"}, "CRAWLER_CONTENT_STORAGE", False),
        ({"has_proxies": False}, "CRAWLER_TRUSTED_PROXIES", False),
        ({"has_proxies": False, "redirects_to_https": True}, "CRAWLER_TRUSTED_PROXIES", True),
        ({"login_tries": 0}, "CRAWLER_LOGIN_TRIES", False),
    ],
)
def test_each_trouble_names_the_setting_and_what_to_do(wrong: dict[str, Any], setting: str, is_error: bool) -> None:
    [trouble] = troubles(replace(GOOD, **wrong))
    assert trouble.is_error is is_error
    assert "Set " in trouble.to_do
    assert setting in trouble.to_do


@pytest.mark.parametrize("has_proxies", [True, False])
def test_a_proxy_that_is_not_named_is_shown_once(has_proxies: bool) -> None:
    [trouble] = troubles(replace(GOOD, unnamed_proxy="172.18.0.1", has_proxies=has_proxies))
    assert "172.18.0.1 forwards requests" in trouble.what
    assert "CRAWLER_TRUSTED_PROXIES=172.18.0.1" in trouble.to_do


@pytest.mark.parametrize(
    ("url", "guarded"),
    [
        ("redis://127.0.0.1:6379/0", False),
        ("redis://localhost", False),
        ("redis://user@10.0.0.1:6379/0", False),
        ("redis://:@127.0.0.1:6379/0", False),
        ("rediss://10.0.0.1:6379/0", False),
        ("redis://:secret@127.0.0.1:6379/0", True),
        ("redis://127.0.0.1:6379/0?password=secret", True),
        ("rediss://10.0.0.1:6379/0?ssl_certfile=/etc/me.pem", True),
        ("redis://10.0.0.1:6379/0?ssl_certfile=/etc/me.pem", False),
        ("unix:///run/redis/redis.sock?db=1", True),
        ("redis+sentinel://one:26379,[::1]:26379/mymaster", False),
        ("redis+sentinel://:secret@one:26379,[::1]:26379/mymaster", True),
        ("rediss+sentinel://one/mymaster?ssl_certfile=/etc/me.pem", True),
    ],
)
def test_whether_redis_asks_who_is_there(url: str, guarded: bool) -> None:
    assert is_guarded(url) is guarded
