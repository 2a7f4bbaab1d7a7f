"""Django's sessions in the database, and how long a login lasts: an idle one as Django's own setting says, a busy one
no longer than CRAWLER_SESSION_DAYS."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as InDatabase
from django.contrib.sessions.models import Session
from django.db import DatabaseError, transaction

from crawler import clock, conf
from crawler.accounts import audit

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
