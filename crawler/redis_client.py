"""The Redis client of this project: redis-py's, which also takes the URL of an installation with sentinels.

RQ's programs use it with RQ_CONNECTION_CLASS=crawler.redis_client.RedisClient. So it must not need Django's settings.
"""

from __future__ import annotations

from typing import Any, Self

from redis import Redis, ResponseError
from redis.backoff import NoBackoff
from redis.connection import SSLConnection, parse_url
from redis.retry import Retry
from redis.sentinel import Sentinel

from crawler.core.errors import BadInput, ServiceDown
from crawler.core.installation.redis_url import SentinelUrl, check_info, parse_sentinel, without_secrets

CONNECTION_CLASS = "crawler.redis_client.RedisClient"
SENTINEL_TIMEOUT_S = 2.0  # of a sentinel: one that vanished must not delay a failover

UNGUARDED_HINT = (
    "Set a password (requirepass) and put it into REDIS_URL and RQ_REDIS_URL, redis://:PASSWORD@HOST:6379/0, or use a "
    "socket, unix:///run/redis/redis.sock. A client that can write to Redis can run code in the workers."
)

_OF_SENTINELS = "sentinel_"  # begins the options that are for the sentinels


class RedisClient(Redis):
    """With sentinels, each new connection asks them for the primary; the connections to a former one are closed."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        given = parse_sentinel(url)
        if given is None:
            return super().from_url(url, **options)  # type: ignore[return-value]  # it is one of `cls`
        of_servers, of_sentinels = sentinel_options(given)
        sentinel = Sentinel(given.sentinels, sentinel_kwargs=of_sentinels)  # type: ignore[no-untyped-call]
        return sentinel.master_for(given.service, redis_class=cls, **{**options, **of_servers})  # type: ignore


def sentinel_options(given: SentinelUrl) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments for connections to the servers, and for those to the sentinels. With TLS both use the same
    certificates."""
    parsed = parse_url(given.server)  # type: ignore[no-untyped-call]  # redis-py gives it no types
    uses_tls = parsed.pop("connection_class", None) is SSLConnection
    del parsed["host"]
    parsed.pop("port", None)
    own = {name.removeprefix(_OF_SENTINELS): parsed.pop(name) for name in [*parsed] if name.startswith(_OF_SENTINELS)}
    tls = (
        {"ssl": True, **{name: value for name, value in parsed.items() if name.startswith("ssl_")}} if uses_tls else {}
    )
    limits = {
        "socket_timeout": SENTINEL_TIMEOUT_S,
        "socket_connect_timeout": SENTINEL_TIMEOUT_S,
        "retry": Retry(NoBackoff(), 1),  # then the next sentinel is asked
    }
    return parsed | tls, limits | tls | own


def django_rq_connection(url: str) -> dict[str, Any]:
    """The connection of a queue in RQ_QUEUES."""
    given = parse_sentinel(url)
    if given is None:
        return {"URL": url}
    of_servers, of_sentinels = sentinel_options(given)
    return {
        "SENTINELS": list(given.sentinels),
        "MASTER_NAME": given.service,
        "CONNECTION_KWARGS": of_servers,
        "SENTINEL_KWARGS": of_sentinels,
    }


def check_server(redis: Redis, url: str) -> dict[str, Any]:
    """The server's INFO, empty if its user may not ask for it. Raises ServiceDown if it can never be used, and
    RedisError."""
    try:
        info = {**redis.info("server"), **redis.info("cluster")}
    except ResponseError:
        return {}
    try:
        check_info(info)
    except BadInput as error:
        raise ServiceDown(f"The Redis at {without_secrets(url)} cannot be used. {error}") from None
    return info
