"""Limits failed logins, stores sessions, and logs users out.

Only failures count: a successful attempt is given back. From unknown browsers a user name has a number of attempts
within a quarter of an hour, and an address three times as many over all names. A browser that was logged in to this
account before has a counter of its own, so that an attacker who exhausts a name's attempts does not lock out its user.
Links and tokens cannot be guessed: a valid one is always accepted, whatever failed before. Each kind has counters of
its own: a program with an old token does not lock out the users who log in from its address. Of a client whose address
is unknown only the name counts.

All processes share the counters, in Redis. While Redis is down, each process counts for itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum
from hashlib import sha256
from secrets import token_hex
from typing import Any, TypeVar, cast

import msgspec
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as InDatabase
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import DatabaseError, transaction
from django.utils.crypto import salted_hmac
from redis import RedisError

from crawler import clock, conf
from crawler.accounts import audit
from crawler.core.access.client_address import UNKNOWN, home_of
from crawler.core.errors import CrawlerError
from crawler.frontier.rate_limit import (
    FAILED_LOGINS,
    Limit,
    LimitResult,
    MemoryRateLimiter,
    RateLimiter,
    RedisRateLimiter,
)
from crawler.queueing import queues

ADDRESS_FACTOR = 3  # an address has this many times the attempts of a name: several users may share it
BROWSER_MARK_TTL_S = 365 * 24 * 3600  # after the last login in this browser
UNLIMITED = 10**9  # more attempts than can be made within the window
AUDITED_FAILURES = (1, 5)
"""Failures of one name that are written to the audit log, besides the one that reaches the limit."""

Result = TypeVar("Result")

log = logging.getLogger(__name__)

_in_memory = MemoryRateLimiter(FAILED_LOGINS)
_salt = "crawler.accounts.login_throttle.browser"  # stays: a new salt forgets browsers and counters


class TooManyTries(CrawlerError):
    """The limit is reached."""

    def __init__(self, wait: int) -> None:
        minutes = -(-wait // 60)
        super().__init__(f"Too many tries. Wait {minutes} minute{'' if minutes == 1 else 's'}, then try again.")
        self.wait = wait  # seconds


class Attempt(msgspec.Struct, frozen=True):
    """An attempt that was counted."""

    counts: tuple[Limit, ...]
    made: int  # attempts of the name or browser, including this one

    def succeeded(self) -> None:
        """Give the attempt back."""
        if self.counts:
            _with_limiter(lambda limiter: limiter.give_back(self.counts))

    @property
    def is_audited(self) -> bool:
        """Whether a failure is written to the audit log: not each, so that an attacker cannot fill the log."""
        return bool(self.counts) and (self.made in AUDITED_FAILURES or self.made == self.counts[0].limit)


def begin(name: str, address: str, browser: str = "") -> Attempt:
    """Count an attempt to log in as `name` with a password, from an address ("" = unknown) and a browser (its mark, ""
    = none). TooManyTries, without counting it, if a limit is reached; whether the account exists makes no
    difference."""
    limit = conf.login_tries()
    if limit == 0:  # counted for the audit log only
        return _begun((Limit(f"name:{_digest(name)}", UNLIMITED),))
    known = _known(browser, name)
    if known:
        return _begun((Limit(f"browser:{known}", limit),))
    counts = [Limit(f"name:{_digest(name)}", limit)]
    if address != UNKNOWN:
        counts.append(_of_address(Kind.PASSWORD, address, limit))
    return _begun(tuple(counts))


def begin_change(account: int) -> Attempt:
    """Count an attempt to enter the current password in order to change it."""
    limit = conf.login_tries()
    return _begun((Limit(f"password:{account}", limit),)) if limit else Attempt((), 0)


class Kind(Enum):
    """What was tried, and the prefix of its counters for addresses."""

    PASSWORD = "address"  # noqa: S105 (no password)
    LINK = "links"
    TOKEN = "tokens"  # noqa: S105 (the same)


def failed(kind: Kind, address: str) -> None:
    """Count an invalid link or token. TooManyTries if there were too many from this address: then the response does
    not even say that it is invalid."""
    limit = conf.login_tries()
    if limit and address != UNKNOWN:
        _begun((_of_address(kind, address, limit),))


def mark_of(name: str, browser: str) -> str:
    """The mark of a browser in which the user of this name has just logged in. It grants no access; it selects the
    counter for an attempt."""
    return signing.dumps([_digest(name), _known(browser, name) or token_hex(8)], salt=_salt)


def _known(browser: str, name: str) -> str:
    """The name of the browser's counter, if this user was logged in there before."""
    try:
        of, number = signing.loads(browser, salt=_salt, max_age=BROWSER_MARK_TTL_S)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(number) if of == _digest(name) else ""


def _of_address(kind: Kind, address: str, limit: int) -> Limit:
    return Limit(f"{kind.value}:{home_of(address)}", limit * ADDRESS_FACTOR)


def _digest(name: str) -> str:
    """A user may type a password as the name: neither is stored in Redis."""
    return salted_hmac(_salt, name.strip().casefold(), algorithm="sha256").hexdigest()[:32]


def _begun(counts: tuple[Limit, ...]) -> Attempt:
    counted: LimitResult = _with_limiter(lambda limiter: limiter.take(counts))
    if counted.wait:
        raise TooManyTries(counted.wait)
    return Attempt(counts, counted.made[0])


def _with_limiter(call: Callable[[RateLimiter], Result]) -> Result:
    try:
        return call(RedisRateLimiter(queues.connection(), FAILED_LOGINS))
    except RedisError as error:
        log.warning("each process counts failed log-ins on its own, because Redis does not respond: %s", error)
        return call(_in_memory)


BEGAN, SEEN = "began", "seen"
SEEN_INTERVAL_S = 300.0  # how often a session in use is written


OLD_KEY_LENGTH = 32  # of the sessions of the version before, whose row has the key of the cookie


def session_row(key: str) -> str:
    """The primary key of a session's row: a digest, so that reading the table gives access to no session. The key
    is random, so the digest needs no salt."""
    return sha256(key.encode()).hexdigest()[:40]


def _renamed(key: str) -> bool:
    """Whether there is a session of the version before with this key; its row gets the digest. A digest from the table
    is longer, so it is never taken for a key."""
    former = Session.objects.filter(session_key=key)
    return len(key) == OLD_KEY_LENGTH and former.exists() and bool(former.update(session_key=session_row(key)))


class SessionStore(InDatabase):
    """Django's sessions in the database, under digests of their keys. An idle one lasts as long as Django's setting
    says, one in use no longer than CRAWLER_SESSION_DAYS."""

    def exists(self, session_key: str) -> bool:
        return bool(super().exists(session_row(session_key)))

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = super().create_model_instance(data)
        row.session_key = session_row(row.session_key)
        return cast(Session, row)

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(session_row(key))

    def _get_session_from_db(self) -> Session | None:
        key = self.session_key or ""
        row = self._row_of(key)
        if row is None and _renamed(key):
            row = self._row_of(key)
        self._session_key = key if row else None
        return row

    def _row_of(self, key: str) -> Session | None:
        """The row, unless it has expired. Django looks for `_session_key`, and removes it if there is none."""
        self._session_key = session_row(key)
        row: Session | None = super()._get_session_from_db()  # type: ignore[misc]  # the stubs lack it
        return row

    def load(self) -> dict[str, Any]:
        held: dict[str, Any] = super().load()
        began = held.get(BEGAN)
        if began is not None and clock.epoch_seconds() - began >= conf.session_seconds():
            self._session_key = None
            return {}
        return held


def begin_session(session: Any) -> None:
    """Called after a login."""
    session[BEGAN] = session[SEEN] = clock.epoch_seconds()


def note_use(session: Any) -> None:
    """Called at each request of a logged-in user: the idle time begins again. If that cannot be stored (the disk is
    full, or the user was logged out at this moment), the request is answered all the same."""
    now = clock.epoch_seconds()
    if now - session.get(SEEN, 0) < SEEN_INTERVAL_S:
        return
    session.setdefault(BEGAN, now)
    session[SEEN] = now
    try:
        session.save()  # here, because Django's middleware would answer 500 or 400
    except (DatabaseError, UpdateError):
        session.modified = False


def end_sessions(user: User) -> int:
    """Log the user out of every browser; returns how many. A session's user is in its encoded data, so all sessions
    that have not expired are read."""
    sessions = Session.objects.filter(expire_date__gt=clock.now()).iterator()
    theirs = [session.pk for session in sessions if session.get_decoded().get(SESSION_KEY) == str(user.pk)]
    with transaction.atomic():
        ended = Session.objects.filter(pk__in=theirs).delete()[0]
        audit.note("sessions.ended", user, before={"sessions": ended})
    return ended


def forget_expired() -> int:
    """Delete the expired sessions; returns how many."""
    return Session.objects.filter(expire_date__lte=clock.now()).delete()[0]
