"""The log-in of a crawl, shared by its workers: who logs in, the session's cookies, and why it failed.

All of it may be lost: then a worker logs in again.
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Any, NamedTuple, cast

from redis import Redis

from crawler.capabilities.login.crawl_keys import CRAWL_KEYS
from crawler.frontier.keys import CrawlKeys
from crawler.frontier.scripts import run

_LUA = Path(__file__).resolve().parent / "lua"

LOCK_TTL_S = 10  # a worker that dies while it logs in is replaced after this
MAX_LOGINS_PER_HOUR = 60  # a site that ends sessions more often does so for a reason
HOUR_S = 3600
MAX_TIMES_SHOWN = 5  # by one page, in batches that ended each time before it was requested again


class LoginState(NamedTuple):
    """What is known of the log-in when a page is about to be requested."""

    session: str = ""  # names the session; "" = there is none
    revision: int = 0  # of its cookies
    failed: str = ""  # why the crawl cannot go on, for users; "" = it can
    is_suspicious: bool = False  # this page has shown the log-in form before
    ended: str = ""  # names the last session in which a page has shown the form
    is_outdated: bool = False  # a user has changed the log-in since the batch was handed out

    @property
    def may_request(self) -> bool:
        """Whether there is a session; in one that has ended, each page would show the form."""
        return bool(self.session) and self.session != self.ended


class Logins:
    """The state of one crawl's log-in in Redis."""

    def __init__(self, redis: Redis, keys: CrawlKeys) -> None:
        self._redis = redis
        self._session, self._lock, self._count = map(keys.of, CRAWL_KEYS)

    def read(self, page: int = 0, sealed: str = "") -> LoginState:
        """For a request of this page, by its id, by a batch that got these credentials, encrypted."""
        names = ["session", "revision", "failed", "ended", f"shown:{page}", f"outdated:{_digest(sealed)}"]
        session, revision, failed, ended, *flags = cast(list[bytes | None], self._redis.hmget(self._session, names))
        is_suspicious, is_outdated = (flag is not None for flag in flags)
        return LoginState(
            session=(session or b"").decode(),
            revision=int(revision or 0),
            failed=(failed or b"").decode(),
            is_suspicious=is_suspicious,
            ended=(ended or b"").decode(),
            is_outdated=is_outdated,
        )

    def jar(self) -> tuple[LoginState, str]:
        """The session, and its cookies, encrypted; "" for none."""
        fields = ["session", "revision", "jar"]
        session, revision, jar = cast(list[bytes | None], self._redis.hmget(self._session, fields))
        return LoginState((session or b"").decode(), int(revision or 0)), (jar or b"").decode()

    def save(self, state: LoginState, sealed: str) -> int:
        """Store the cookies of this session. The new revision; 0 = others were stored meanwhile, -1 = the session is
        another one."""
        return int(self._run("login_save", [self._session], [state.session, state.revision, sealed]))

    def acquire_lock(self, token: str) -> bool:
        """True if the worker with this token is to log in; others wait for the session."""
        return bool(self._redis.set(self._lock, token, nx=True, ex=LOCK_TTL_S))

    def renew_lock(self) -> None:
        self._redis.expire(self._lock, LOCK_TTL_S)

    def release_lock(self, token: str) -> None:
        if self._redis.get(self._lock) == token.encode():
            self._redis.delete(self._lock)

    def is_too_often(self) -> bool:
        """Whether there were MAX_LOGINS_PER_HOUR within about an hour."""
        return int(cast(bytes | None, self._redis.get(self._count)) or 0) >= MAX_LOGINS_PER_HOUR

    def begin_session(self, token: str, sealed: str) -> bool:
        """The log-in has worked; the lock is released. False if it had expired: another worker logs in."""
        with self._redis.pipeline() as pipe:
            pipe.set(self._count, 0, ex=HOUR_S, nx=True)
            pipe.incr(self._count)
            pipe.execute()
        return self._end(token, secrets.token_hex(8), sealed, "")

    def fail(self, token: str, why: str) -> bool:
        """The log-in has failed; the lock is released. False as above."""
        return self._end(token, "", "", why)

    def note_shown(self, session: str, page: int, why: str, *, is_of_this_page: bool = False) -> bool:
        """A page shows the log-in form in this session. False if the log-in has failed: the worker has just logged in
        for this page, or it has shown the form MAX_TIMES_SHOWN times without a response between them."""
        most = 0 if is_of_this_page else MAX_TIMES_SHOWN - 1
        return int(self._run("login_shown", [self._session], [session, page, why, most])) != 2

    def forget_shown(self, page: int) -> None:
        """The page was fetched in the end."""
        self._redis.hdel(self._session, f"shown:{page}")

    def failure(self) -> str:
        """Why the crawl cannot go on; "" = it can."""
        return (cast(bytes | None, self._redis.hget(self._session, "failed")) or b"").decode()

    def retry(self) -> None:
        """A user has resumed the crawl: log in again if need be."""
        with self._redis.pipeline() as pipe:
            pipe.hdel(self._session, "failed")
            pipe.delete(self._count)
            pipe.execute()

    def forget(self, sealed: str) -> None:
        """A user has changed the log-in: end the session, and a log-in under way. Batches that got these credentials,
        encrypted, do not log in any more; credentials that are encrypted later differ, even with the same values."""
        self._run("login_forget", [self._lock, self._session], [_digest(sealed)])

    def _end(self, token: str, session: str, sealed: str, why: str) -> bool:
        return bool(self._run("login_end", [self._lock, self._session], [token, session, sealed, why]))

    def _run(self, script: str, keys: list[str], args: list[Any]) -> Any:
        return run(self._redis, script, keys, args, _LUA)


def _digest(sealed: str) -> str:
    return hashlib.sha256(sealed.encode()).hexdigest()[:16]
