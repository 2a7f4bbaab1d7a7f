"""System checks of a deployment, its settings and its clocks: `manage.py check --deploy`."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from redis import RedisError

from crawler import clock, conf
from crawler.core.access.client_address import is_unnamed_proxy
from crawler.core.installation.deployment import TO_DO, troubles
from crawler.frontier import keys
from crawler.queueing import startup
from crawler.redis_client import RedisClient

TIMEOUT_S = 2.0  # of Redis


def register_all() -> None:
    """Register them for `--deploy`."""
    register(deployment, Tags.security, deploy=True)
    register(clocks, Tags.security, deploy=True)


def deployment(app_configs: Any = None, **more: Any) -> list[CheckMessage]:
    """A message with a hint for each problem of the settings."""
    return [
        (Error if trouble.is_error else Warning)(
            trouble.what, hint=trouble.to_do, id=f"crawler.{'E' if trouble.is_error else 'W'}{trouble.number:03}"
        )
        for trouble in troubles(conf.setup(_unnamed_proxy()))
    ]


def _unnamed_proxy() -> str:
    """The one that forwarded requests lately and is still not trusted; "" if none did, or Redis does not answer."""
    try:
        with RedisClient.from_url(
            conf.redis_url(), socket_connect_timeout=TIMEOUT_S, socket_timeout=TIMEOUT_S
        ) as redis:
            found = redis.get(keys.UNNAMED_PROXY)
    except (RedisError, OSError, ValueError):
        return ""
    peer = found.decode() if isinstance(found, bytes) else ""
    return peer if peer and is_unnamed_proxy(peer, conf.trusted_proxies()) else ""


def clocks(app_configs: Any = None, **more: Any) -> list[CheckMessage]:
    """Whether this machine's clock agrees with those of Redis and the database, if these answer within seconds."""
    with startup.brief_connection() as database:
        sentence = clock.measure(database).sentence
    return [Warning(sentence, hint=TO_DO, id="crawler.W011")] if sentence else []
