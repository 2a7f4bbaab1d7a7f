"""System checks of a deployment, its settings and its clocks: `manage.py check --deploy`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from redis import RedisError

from crawler import clock, conf
from crawler.core.access.client_address import is_unnamed_proxy
from crawler.core.installation.deployment import Setup, is_elsewhere, is_everything, is_guarded
from crawler.frontier import keys
from crawler.queueing import startup
from crawler.queueing.startup import CLOCKS_TO_DO, skew_text
from crawler.redis_client import UNGUARDED_HINT, RedisClient

TIMEOUT_S = 2.0  # of Redis
MIN_TOKEN_LENGTH = 16  # characters


def register_all() -> None:
    """Register them for `--deploy`."""
    register(deployment, Tags.security, deploy=True)
    register(clocks, Tags.security, deploy=True)


def deployment(app_configs: Any = None, **more: Any) -> list[CheckMessage]:
    """A message with a hint for each problem of the settings."""
    return list(troubles(conf.setup(_unnamed_proxy())))


def _message(number: int, is_error: bool, what: str, to_do: str) -> CheckMessage:
    """An error, or a warning about what may be intended."""
    kind, letter = (Error, "E") if is_error else (Warning, "W")
    return kind(what, hint=to_do, id=f"crawler.{letter}{number:03}")


def troubles(setup: Setup) -> Iterator[CheckMessage]:
    """What is wrong with these settings."""
    if not is_guarded(setup.redis_url):
        yield _message(1, True, "Redis accepts commands from every client that can connect.", UNGUARDED_HINT)
    if "*" in setup.allowed_hosts:
        hint = "Set ALLOWED_HOSTS to the host names users visit, such as crawler.example.com."
        yield _message(2, True, "Pages are served under every host name, so links can contain a forged one.", hint)
    if urlsplit(setup.base_url).scheme != "https":
        hint = "Set CRAWLER_BASE_URL to the address users visit, such as https://crawler.example.com."
        yield _message(3, True, "Links in mails and invitations lead to an address without TLS.", hint)
    if not setup.webhook_secret:
        hint = "Set CRAWLER_WEBHOOK_SECRET to a long random text, and share it with the receivers."
        yield _message(4, False, "Webhooks are not signed: receivers cannot verify the sender.", hint)
    if any(is_everything(host) for host in setup.private_hosts):
        hint = "Set CRAWLER_PRIVATE_HOSTS to the intended hosts; superusers can allow all for a single crawl."
        yield _message(
            5, True, "Every user can crawl every address that this machine reaches, including its own services.", hint
        )
    if len(setup.metrics_token) < MIN_TOKEN_LENGTH:
        hint = "Set CRAWLER_METRICS_TOKEN to a long random text, and give it to your monitor."
        is_missing = "No monitor can read /metrics." if not setup.metrics_token else "It can be guessed."
        yield _message(
            6, False, f"CRAWLER_METRICS_TOKEN has fewer than {MIN_TOKEN_LENGTH} characters. {is_missing}", hint
        )
    if setup.mails_are_files:
        hint = "Set EMAIL_URL to your mail server, such as smtp+tls://user:password@host:587."
        yield _message(7, False, "Mails are not sent: they are written to the data folder.", hint)
    if setup.content_is_here and is_elsewhere(setup.redis_url):
        hint = "Set CRAWLER_CONTENT_STORAGE to a bucket, or to a folder that all machines share."
        yield _message(8, False, "Redis is on another machine, but content is stored in a folder of this one.", hint)
    if setup.unnamed_proxy:
        hint = f"If it is your proxy, add it: CRAWLER_TRUSTED_PROXIES={setup.unnamed_proxy}"
        what = f"{setup.unnamed_proxy} forwards requests, but CRAWLER_TRUSTED_PROXIES does not name it."
        yield _message(12, False, f"{what} {UNTRUSTED}", hint)
    elif not setup.has_proxies:
        hint = "Set CRAWLER_TRUSTED_PROXIES to the address your proxy connects from, such as 127.0.0.1."
        is_endless = " Every page redirects to itself." if setup.redirects_to_https else ""
        yield _message(9, setup.redirects_to_https, f"No proxy is trusted. {UNTRUSTED}{is_endless}", hint)
    if not setup.login_tries:
        hint = "Set CRAWLER_LOGIN_TRIES to the failed log-ins allowed within 15 minutes, such as 10."
        yield _message(10, False, "Password guesses are not limited.", hint)


UNTRUSTED = "Its clients' addresses are not known, and their requests do not count as HTTPS."


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
    """Whether this machine's clock agrees with Redis and the database, if they respond within seconds."""
    with startup.brief_connection() as database:
        sentence = skew_text(clock.measure(database))
    return [Warning(sentence, hint=CLOCKS_TO_DO, id="crawler.W011")] if sentence else []
