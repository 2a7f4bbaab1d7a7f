"""How often somebody may try to come in. What is counted are failures: whoever gets in gives their try back.

Of strangers a name has so many tries within a quarter of an hour, and an address three times as many, whatever names
they try. A browser that was logged in to this account before has a count of its own: whoever keeps failing at somebody
else's name keeps strangers out, but not them; and every count ends by itself. Links and tokens cannot be guessed: a
good one always opens, whatever was tried before.

All processes share the counts, in Redis. While that is away each counts for itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, TypeVar

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
from crawler.frontier.rate_limit import Limit, LimitResult, MemoryRateLimiter, RateLimiter, RedisRateLimiter
from crawler.queueing import queues

WHILE = 900.0  # seconds a count lasts
OF_AN_ADDRESS = 3  # times as many as of a name: several people may share one
KNOWN_FOR = 365 * 24 * 3600  # seconds a browser is known after its last login
NO_LIMIT = 10**9  # tries that nobody can make within that
TOLD_AT = (1, 5)  # failures of one name that the audit log is told of; and the one that fills the count

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

_own = MemoryRateLimiter(WHILE)
_salt = "crawler.accounts.logins.browser"


class TooManyTries(CrawlerError):
    """There is no room for another try."""

    def __init__(self, wait: int) -> None:
        minutes = -(-wait // 60)
        super().__init__(f"Too many tries. Wait {minutes} minute{'' if minutes == 1 else 's'}, then try again.")
        self.wait = wait  # seconds


@dataclass(frozen=True)
class Attempt:
    """A try that was counted."""

    counts: tuple[Limit, ...]
    made: int  # of the name, or of the browser, this one among them

    def succeeded(self) -> None:
        """It came to something, so it does not count."""
        if self.counts:
            _asked(lambda counts: counts.give_back(self.counts))

    @property
    def is_to_be_told(self) -> bool:
        """Whether the audit log is to hear of it, should it fail. Not of each: a log can be filled."""
        return bool(self.counts) and (self.made in TOLD_AT or self.made == self.counts[0].limit)


def begin(name: str, address: str, browser: str = "") -> Attempt:
    """Count a try to log in as `name` with a password, from an address ("" = not known) and a browser (its mark, ""
    = it has none). TooManyTries, and nothing is counted, when there is no room; whether there is such an account makes
    no difference."""
    limit = conf.login_tries()
    if limit == 0:  # counted all the same, for the audit log
        return _begun((Limit(f"name:{_digest(name)}", NO_LIMIT),))
    known = _known(browser, name)
    if known:
        return _begun((Limit(f"browser:{known}", limit),))
    counts = [Limit(f"name:{_digest(name)}", limit)]
    if address != UNKNOWN:
        counts.append(_of_address(address, limit))
    return _begun(tuple(counts))


def begin_change(account: int) -> Attempt:
    """Count a try to say the password one has, in order to change it."""
    limit = conf.login_tries()
    return _begun((Limit(f"password:{account}", limit),)) if limit else Attempt((), 0)


def failed(address: str) -> None:
    """Count a link or a token that is none. TooManyTries when that happened too often from there: then it is not even
    said that it is none."""
    limit = conf.login_tries()
    if limit and address != UNKNOWN:
        _begun((_of_address(address, limit),))


def mark_of(name: str, browser: str) -> str:
    """The mark by which a browser is known from now on, in which somebody of this name has just logged in. It lets
    nobody in; it says which count a try belongs to."""
    return signing.dumps([_digest(name), _known(browser, name) or token_hex(8)], salt=_salt)


def _known(browser: str, name: str) -> str:
    """What the browser is counted by, if it was logged in by this name before."""
    try:
        of, number = signing.loads(browser, salt=_salt, max_age=KNOWN_FOR)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(number) if of == _digest(name) else ""


def _of_address(address: str, limit: int) -> Limit:
    return Limit(f"address:{home_of(address)}", limit * OF_AN_ADDRESS)


def _digest(name: str) -> str:
    """What is typed as a name may be a password: Redis holds neither."""
    return salted_hmac(_salt, name.strip().casefold(), algorithm="sha256").hexdigest()[:32]


def _begun(counts: tuple[Limit, ...]) -> Attempt:
    counted: LimitResult = _asked(lambda where: where.take(counts))
    if counted.wait:
        raise TooManyTries(counted.wait)
    return Attempt(counts, counted.made[0])


def _asked(what: Callable[[RateLimiter], Answer]) -> Answer:
    try:
        return what(RedisRateLimiter(queues.connection(), WHILE))
    except RedisError as error:
        log.warning("failed logins are counted by each process for itself, because Redis does not answer: %s", error)
        return what(_own)


# Django's sessions in the database, and how long a login lasts: an idle one as Django's own setting says, a busy one
# no longer than CRAWLER_SESSION_DAYS.

BEGAN, SEEN = "began", "seen"
SEEN_EVERY = 300.0  # seconds; how often a session in use is written to


class SessionStore(InDatabase):
    """One whose time is over is as good as none."""

    def load(self) -> dict[str, Any]:
        held: dict[str, Any] = super().load()
        began = held.get(BEGAN)
        if began is not None and clock.epoch_seconds() - began >= conf.session_seconds():
            self._session_key = None
            return {}
        return held


def begin_session(session: Any) -> None:
    """Somebody has just logged in."""
    session[BEGAN] = session[SEEN] = clock.epoch_seconds()


def note_use(session: Any) -> None:
    """Somebody who is logged in did something: from now on it counts as idle. Where that cannot be written (the disk is
    full, or they were logged out at this moment) they are shown what they asked for all the same."""
    now = clock.epoch_seconds()
    if now - session.get(SEEN, 0) < SEEN_EVERY:
        return
    session.setdefault(BEGAN, now)
    session[SEEN] = now
    try:
        session.save()  # now, and not by Django's middleware, which would answer 500 or 400
    except (DatabaseError, UpdateError):
        session.modified = False


# Where a person is logged in, and logging them out.


def end_sessions(user: User) -> int:
    """Log this person out of every browser; how many there were. A session's owner stands in what it holds, so all
    that have not run out are read."""
    sessions = Session.objects.filter(expire_date__gt=clock.now()).iterator()
    theirs = [session.pk for session in sessions if session.get_decoded().get(SESSION_KEY) == str(user.pk)]
    with transaction.atomic():
        ended = Session.objects.filter(pk__in=theirs).delete()[0]
        audit.note("sessions.ended", user, before={"sessions": ended})
    return ended


def forget_expired() -> int:
    """Delete the sessions that have run out; how many there were."""
    return Session.objects.filter(expire_date__lte=clock.now()).delete()[0]
