"""What is believed of the headers that proxies add."""

import logging
from typing import Any

import pytest
from django.test import Client
from redis import Redis

from crawler.core.access.client_address import parse_networks
from crawler.frontier import keys
from crawler.web import forwarded

GATEWAY = "172.18.0.1"


@pytest.fixture(autouse=True)
def _as_in_production(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    forwarded._noted.clear()


def status(peer: str, path: str = "/login/") -> int:
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.7"}
    return Client(headers=headers).get(path, REMOTE_ADDR=peer).status_code


@pytest.mark.django_db
@pytest.mark.parametrize(("peer", "expected"), [(GATEWAY, 200), ("172.18.0.2", 301), ("198.51.100.7", 301)])
def test_only_a_trusted_proxy_says_that_a_request_came_by_https(
    settings: Any, real_redis: Redis, peer: str, expected: int
) -> None:
    settings.CRAWLER_TRUSTED_PROXIES = parse_networks("proxies", [GATEWAY])
    assert status(peer) == expected


def test_a_proxy_that_is_not_named_is_logged_once_and_remembered(
    settings: Any, real_redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CRAWLER_TRUSTED_PROXIES = ()
    with caplog.at_level(logging.WARNING, "crawler.web.forwarded"):
        assert [status(GATEWAY, "/healthz") for _ in range(3)] == [200] * 3
    assert caplog.text.count("172.18.0.1 forwards requests, but is not in CRAWLER_TRUSTED_PROXIES") == 1
    assert real_redis.get(keys.UNNAMED_PROXY) == GATEWAY.encode()


def test_a_client_that_forges_the_headers_is_not_logged(real_redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "crawler.web.forwarded"):
        assert status("8.8.8.8", "/healthz") == 200
    assert caplog.text == ""
    assert real_redis.get(keys.UNNAMED_PROXY) is None
