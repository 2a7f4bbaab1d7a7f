"""What an installation that others can reach must have set."""

from typing import Any

import pytest
from django.core.checks import Error
from msgspec.structs import replace

from crawler.checks import troubles
from crawler.core.installation.deployment import Setup

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
    assert isinstance(trouble, Error) is is_error
    assert "Set " in str(trouble.hint)
    assert setting in str(trouble.hint)


@pytest.mark.parametrize("has_proxies", [True, False])
def test_a_proxy_that_is_not_named_is_shown_once(has_proxies: bool) -> None:
    [trouble] = troubles(replace(GOOD, unnamed_proxy="172.18.0.1", has_proxies=has_proxies))
    assert "172.18.0.1 forwards requests" in trouble.msg
    assert "CRAWLER_TRUSTED_PROXIES=172.18.0.1" in str(trouble.hint)
