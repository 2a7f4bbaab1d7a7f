"""What REDIS_URL may be, and which servers can be used."""

from typing import Any

import pytest

from crawler.core.errors import BadInput
from crawler.core.installation.redis_url import (
    NO_CLUSTER,
    SentinelUrl,
    check,
    check_info,
    parse_sentinel,
    without_secrets,
)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        (
            "redis+sentinel://one/mymaster",
            SentinelUrl((("one", 26379),), "mymaster", "redis://one/0"),
        ),
        (
            "redis+sentinel://:p%40ss@one:1,10.0.0.2:2,[::1]:3/crawler/4",
            SentinelUrl((("one", 1), ("10.0.0.2", 2), ("::1", 3)), "crawler", "redis://:p%40ss@one:1/4"),
        ),
        (
            "rediss+sentinel://me:p@ss@one,two/mymaster?ssl_ca_certs=/etc/ca.pem",
            SentinelUrl(
                (("one", 26379), ("two", 26379)), "mymaster", "rediss://me:p@ss@one/0?ssl_ca_certs=/etc/ca.pem"
            ),
        ),
    ],
)
def test_a_url_with_sentinels_names_them_and_the_service(url: str, parts: SentinelUrl) -> None:
    assert parse_sentinel(url) == parts


@pytest.mark.parametrize("url", ["redis://127.0.0.1:6379/0", "rediss://host", "unix:///run/redis.sock"])
def test_another_url_has_none(url: str) -> None:
    check(url)
    assert parse_sentinel(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://one:26379",  # no service
        "redis+sentinel:///mymaster",
        "redis+sentinel://one,,two/mymaster",
        "redis+sentinel://one:port/mymaster",
        "redis+sentinel://one/mymaster/zero",
    ],
)
def test_one_that_cannot_be_read_gets_an_example(url: str) -> None:
    with pytest.raises(BadInput, match=r"such as redis\+sentinel://:PASSWORD@host1:26379"):
        check(url)


@pytest.mark.parametrize("url", ["redis+cluster://one:7000,two:7000", "rediss+cluster://one"])
def test_a_cluster_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match=r"Redis Cluster is not supported.*: use one Redis server"):
        check(url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("rediss://me:p@ss@redis.example:6380/1", "rediss://redis.example:6380/1"),
        ("redis://redis.example/0?password=secret", "redis://redis.example/0"),
        ("unix://:secret@/run/redis.sock?db=0", "unix:///run/redis.sock"),
        (":secret@redis.example:6379", "redis.example:6379"),
        ("redis+sentinel://:secret@one:1,two:2/mymaster/0", "redis+sentinel://one:1,two:2/mymaster/0"),
    ],
)
def test_the_address_of_redis_is_shown_without_its_password(url: str, told: str) -> None:
    assert without_secrets(url) == told


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"redis_version": "5.0.14", "cluster_enabled": 0}, "It is version 5.0.14; 6.0 or newer is needed."),
        ({"redis_version": "7.2.4", "cluster_enabled": 1}, NO_CLUSTER),
    ],
)
def test_an_old_server_and_a_node_of_a_cluster_cannot_be_used(info: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_info(info)
    assert str(refused.value) == reason


@pytest.mark.parametrize("info", [{"redis_version": "7.2.4", "cluster_enabled": 0}, {"redis_version": "6.0.16"}, {}])
def test_another_server_can_be_used(info: dict[str, Any]) -> None:
    check_info(info)
