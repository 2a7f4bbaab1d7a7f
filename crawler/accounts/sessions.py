"""Where a person is logged in, and logging them out."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction

from crawler import audit, clock


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
