"""Checks of a public installation: settings and clocks; and the deadlines of a stopping worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import IntEnum
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, parse_qs, urlsplit

from crawler.core.installation.redis_url import parse_sentinel

MIN_TOKEN_LENGTH = 16  # characters


@dataclass(frozen=True, kw_only=True)
class Setup:
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


@dataclass(frozen=True)
class Trouble:
    """One problem of the installation."""

    number: int
    is_error: bool  # else it may be intended
    what: str
    to_do: str


def troubles(setup: Setup) -> Iterator[Trouble]:
    """Errors and warnings."""
    if not is_guarded(setup.redis_url):
        yield Trouble(1, True, "Redis accepts commands from every client that can connect.", REDIS_HINT)
    if "*" in setup.allowed_hosts:
        hint = "Set ALLOWED_HOSTS to the names people type, such as crawler.example.com."
        yield Trouble(2, True, "Pages are served under every host name, so their links can carry a forged one.", hint)
    if urlsplit(setup.base_url).scheme != "https":
        hint = "Set CRAWLER_BASE_URL to the address people type, such as https://crawler.example.com."
        yield Trouble(3, True, "Links in mails and invitations lead to an address without TLS.", hint)
    if not setup.webhook_secret:
        hint = "Set CRAWLER_WEBHOOK_SECRET to a long random text, and tell it to the receivers."
        yield Trouble(4, False, "Webhooks go out unsigned: their receivers cannot know who sends them.", hint)
    if any(_is_everything(host) for host in setup.private_hosts):
        hint = "Set CRAWLER_PRIVATE_HOSTS to the hosts that are meant; superusers can allow all to one crawl."
        yield Trouble(
            5, True, "Every user may crawl every address this machine reaches, including its own services.", hint
        )
    if len(setup.metrics_token) < MIN_TOKEN_LENGTH:
        hint = "Set CRAWLER_METRICS_TOKEN to a long random text, and give it to your monitor."
        is_missing = "No monitor can read /metrics." if not setup.metrics_token else "It can be guessed."
        yield Trouble(
            6, False, f"CRAWLER_METRICS_TOKEN has fewer than {MIN_TOKEN_LENGTH} characters. {is_missing}", hint
        )
    if setup.mails_are_files:
        hint = "Set EMAIL_URL to your mail server, such as smtp+tls://user:password@host:587."
        yield Trouble(7, False, "Mails are not sent: each becomes a file in the data folder.", hint)
    if setup.content_is_here and _is_elsewhere(setup.redis_url):
        hint = "Set CRAWLER_CONTENT_STORAGE to a bucket, or to a folder that all machines share."
        yield Trouble(8, False, "Redis is on another machine, but kept content in a folder of this one.", hint)
    if setup.unnamed_proxy:
        hint = f"If it is your proxy, add it: CRAWLER_TRUSTED_PROXIES={setup.unnamed_proxy}"
        what = f"{setup.unnamed_proxy} forwards requests, but CRAWLER_TRUSTED_PROXIES does not name it."
        yield Trouble(12, False, f"{what} {UNTRUSTED}", hint)
    elif not setup.has_proxies:
        hint = "Set CRAWLER_TRUSTED_PROXIES to the address your proxy connects from, such as 127.0.0.1."
        is_endless = " Every page redirects to itself." if setup.redirects_to_https else ""
        yield Trouble(9, setup.redirects_to_https, f"No proxy is trusted. {UNTRUSTED}{is_endless}", hint)
    if not setup.login_tries:
        hint = (
            "Set CRAWLER_LOGIN_TRIES to how often one may mistype a password within a quarter of an hour, such as 10."
        )
        yield Trouble(10, False, "Passwords can be guessed without end.", hint)


UNTRUSTED = "Its clients' addresses are not known, and their requests do not count as HTTPS."
REDIS_HINT = (
    "Set a password (requirepass) and put it into REDIS_URL and RQ_REDIS_URL, redis://:PASSWORD@HOST:6379/0, or use a "
    "socket, unix:///run/redis/redis.sock. A client that can write to Redis can run code in the workers."
)


def is_guarded(redis_url: str) -> bool:
    """Whether Redis authenticates its clients: by a password, a certificate, or the permissions of a socket."""
    parts = _split(redis_url)
    if parts.scheme == "unix":
        return True
    named = parse_qs(parts.query)
    return bool(parts.password or named.get("password") or (parts.scheme == "rediss" and named.get("ssl_certfile")))


def _split(redis_url: str) -> SplitResult:
    """With sentinels: the host of the first, and what is known of each server."""
    given = parse_sentinel(redis_url)
    return urlsplit(given.server if given else redis_url)


def _is_elsewhere(redis_url: str) -> bool:
    parts = _split(redis_url)
    if parts.scheme == "unix" or parts.hostname in {None, "localhost"}:
        return False
    try:
        return not ip_address(str(parts.hostname)).is_loopback
    except ValueError:
        return True


def _is_everything(host: str) -> bool:
    if host.strip() == "*":
        return True
    try:
        return ip_network(host.strip(), strict=False).prefixlen == 0
    except ValueError:
        return False


# Clock skew between this machine, Redis and the database.

MAX_SKEW_S = 2.0
AGREE = "The clocks agree."
NOT_COMPARED = "The clocks were not compared."
TO_DO = "Keep the clocks of all machines right by NTP, with chrony or systemd-timesyncd: see docs/deployment.md."


@dataclass(frozen=True)
class Skew:
    """Seconds by which this machine's clock is ahead of each; None = no response, or no clock of its own."""

    redis: float | None = None
    database: float | None = None

    @property
    def known(self) -> dict[str, float]:
        """Those that were compared."""
        return {name: seconds for name, seconds in asdict(self).items() if seconds is not None}

    @property
    def sentence(self) -> str:
        """Which clock is off, and by how much; "" if none is. If two agree, the third is off."""
        redis, database = self.redis, self.database
        if redis is not None and database is not None and _is_off(redis) and abs(redis - database) <= MAX_SKEW_S:
            return f"This machine's clock is {_by(redis)} those of Redis and the database."
        if database is not None and redis is not None and _is_off(redis) != _is_off(database):
            if _is_off(redis):
                return f"Redis's clock is {_by(-redis)} those of this machine and the database."
            return f"The database's clock is {_by(-database)} those of this machine and Redis."
        named = {"Redis's": redis, "the database's": database}
        off = [f"{_by(seconds)} {name}" for name, seconds in named.items() if seconds is not None and _is_off(seconds)]
        return f"This machine's clock is {' and '.join(off)}." if off else ""


def _is_off(seconds: float) -> bool:
    return abs(seconds) > MAX_SKEW_S


def _by(seconds: float) -> str:
    return f"{abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'}"


# How a worker stops after SIGTERM: it starts nothing new and returns what it had not started. Pages under way may
# finish for PAGE_GRACE_SECONDS (GRACE_SETTING); then their requests are given up. A page that is being parsed is
# finished. A tick that runs beside the pages is abandoned after TICK_GRACE_SECONDS. The rest of the time is for writing
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
