"""Checks of a public installation: settings and clocks; and the deadlines of a stopping worker."""

from __future__ import annotations

from enum import IntEnum
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, parse_qs, urlsplit

import msgspec
from msgspec.structs import asdict

from crawler.core.installation.redis_url import parse_sentinel


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that are checked."""

    redis_url: str
    allowed_hosts: tuple[str, ...]
    base_url: str
    webhook_secret: str
    metrics_token: str
    private_hosts: tuple[str, ...]
    has_proxies: bool  # whether trusted proxies are configured
    unnamed_proxy: str  # the address of a proxy that is not one of them and forwarded a request lately; "" = none
    redirects_to_https: bool
    mails_are_files: bool
    content_is_here: bool  # in a folder of this machine
    login_tries: int  # 0 = no limit


def is_guarded(redis_url: str) -> bool:
    """Whether Redis authenticates its clients: by a password, a certificate, or the permissions of a socket."""
    parts = _split(redis_url)
    if parts.scheme == "unix":
        return True
    named = parse_qs(parts.query)
    return bool(parts.password or named.get("password") or (parts.scheme == "rediss" and named.get("ssl_certfile")))


def _split(redis_url: str) -> SplitResult:
    """With sentinels: the host of the first, and the data of each server."""
    given = parse_sentinel(redis_url)
    return urlsplit(given.server if given else redis_url)


def is_elsewhere(redis_url: str) -> bool:
    parts = _split(redis_url)
    if parts.scheme == "unix" or parts.hostname in {None, "localhost"}:
        return False
    try:
        return not ip_address(str(parts.hostname)).is_loopback
    except ValueError:
        return True


def is_everything(host: str) -> bool:
    if host.strip() == "*":
        return True
    try:
        return ip_network(host.strip(), strict=False).prefixlen == 0
    except ValueError:
        return False


# Clock skew between this machine, Redis and the database.

MAX_SKEW_S = 2.0


class Skew(msgspec.Struct, frozen=True):
    """Seconds by which this machine's clock is ahead of each; None = no response, or no clock of its own."""

    redis: float | None = None
    database: float | None = None

    @property
    def known(self) -> dict[str, float]:
        """Those that were compared."""
        return {name: seconds for name, seconds in asdict(self).items() if seconds is not None}


# How a worker stops after SIGTERM: it starts nothing new and returns what it had not started. Pages under way may
# finish for PAGE_GRACE_SECONDS (GRACE_SETTING); then their requests are given up. A page that is being parsed is
# finished. A tick under way is abandoned after TICK_GRACE_SECONDS. The rest of the time is for writing
# results to Redis. At STOP_SECONDS the process ends in any case.
#
# TimeoutStopSec in deploy/systemd is a little longer than STOP_SECONDS, and so is the patience of `bin/up`. honcho and
# `bin/crawl`, for which a user waits, kill a process after 5 s: their workers have SHORT_GRACE_SECONDS.

PAGE_GRACE_SECONDS = 7.0
SHORT_GRACE_SECONDS = 3.0
GRACE_SETTING = "CRAWLER_GRACE_SECONDS"
TICK_GRACE_SECONDS = 8.0
STOP_SECONDS = 10.0
COLD_SECONDS = 1.0  # after a second signal, so that RQ can record the end of the worker


class Phase(IntEnum):
    """How a stopping worker treats its pages; each phase goes further than the one before."""

    WORK = 0
    BEGIN_NOTHING = 1
    ABORT = 2  # close the connections of pages under way
    LEAVE = 3  # do not wait for a tick


def phase(stopping_for: float | None, page_grace: float = PAGE_GRACE_SECONDS) -> Phase:
    """`stopping_for`: seconds since the signal to stop; None = none yet. `page_grace`: seconds that pages under way
    have, at most PAGE_GRACE_SECONDS."""
    if stopping_for is None:
        return Phase.WORK
    if stopping_for < page_grace:
        return Phase.BEGIN_NOTHING
    return Phase.ABORT if stopping_for < TICK_GRACE_SECONDS else Phase.LEAVE
