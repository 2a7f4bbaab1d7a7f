"""The Redis client: what it makes of a URL with sentinels, and the servers it refuses."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django_rq.connection_utils import get_redis_connection
from redis import Redis
from redis.sentinel import SentinelConnectionPool, SentinelManagedSSLConnection

from crawler.core.errors import ServiceDown
from crawler.launch.services import ensure_redis
from crawler.queueing.startup import _redis_trouble
from crawler.redis_client import RedisClient, check_server, django_rq_connection
from tests.conftest import free_port
from tests.redis_servers import answers, serving, wait_until

URL = "rediss+sentinel://me:p%40ss@one:1,two/crawls/3?ssl_ca_certs=/ca.pem&sentinel_password=other&socket_timeout=9"
BUS_OFFSET, MAX_PORT = 10_000, 65_535  # a node of a cluster also listens on its port + BUS_OFFSET


def pool_of(client: Redis) -> SentinelConnectionPool:
    pool = client.connection_pool
    assert isinstance(pool, SentinelConnectionPool)
    return pool


@pytest.mark.parametrize("made_by", ["us", "django-rq"])
def test_servers_and_sentinels_get_their_own_options(made_by: str) -> None:
    config = django_rq_connection(URL)
    client = RedisClient.from_url(URL, socket_timeout=1) if made_by == "us" else get_redis_connection(config)
    pool = pool_of(client)
    given = pool.connection_kwargs
    assert pool.connection_class is SentinelManagedSSLConnection
    assert [given[name] for name in ("username", "password", "db")] == ["me", "p@ss", 3]
    assert [given[name] for name in ("ssl_ca_certs", "socket_timeout")] == ["/ca.pem", 9.0]  # the URL comes first
    sentinels = [sentinel.connection_pool.connection_kwargs for sentinel in pool.sentinel_manager.sentinels]
    assert [(told["host"], told["port"]) for told in sentinels] == [("one", 1), ("two", 26379)]
    assert {(told["password"], told["username"], told["ssl_ca_certs"]) for told in sentinels} == {
        ("other", None, "/ca.pem")
    }


def test_another_url_is_left_to_the_libraries() -> None:
    assert django_rq_connection("rediss://host/1") == {"URL": "rediss://host/1"}
    assert RedisClient.from_url("redis://host:1/2").connection_pool.connection_kwargs["db"] == 2


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server of a Redis Cluster."""
    port = next(port for port in iter(free_port, None) if port + BUS_OFFSET <= MAX_PORT)
    with serving(tmp_path_factory.mktemp("node"), "cluster-enabled yes", "save ''", port=port):
        wait_until(answers(port))
        yield f"redis://127.0.0.1:{port}/0"


def test_a_node_of_a_cluster_is_refused_at_each_start(node: str, tmp_path: Path) -> None:
    refusal = f"The Redis at {node} cannot be used. Redis Cluster is not supported, because transactions use .*: use "
    with RedisClient.from_url(node) as client, pytest.raises(ServiceDown, match=refusal):
        check_server(client, node)
    with pytest.raises(ServiceDown, match=refusal):  # bin/crawl, bin/up
        ensure_redis(tmp_path, node)
    with pytest.raises(ServiceDown, match=refusal):  # workers, web pages, clock: at once, without waiting
        _redis_trouble(node)
