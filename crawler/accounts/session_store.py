"""Django's sessions in the database, and how long a login lasts: an idle one as Django's own setting says, a busy one
no longer than CRAWLER_SESSION_DAYS."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as InDatabase
from django.db import DatabaseError

from crawler import clock, conf

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


def begin(session: Any) -> None:
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
