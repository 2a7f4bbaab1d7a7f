"""Middleware that records the actor of a request for the audit log, and that a session is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from crawler import conf
from crawler.accounts import audit
from crawler.accounts.audit import API, WEB, Actor
from crawler.accounts.logins import note_use
from crawler.core.access.client_address import address_of

API_ROOT = "/api/"


class RecordActor:
    """Sets the actor of the audit log, and extends the session of an active user. It does not load a session that no
    view has loaded."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        via = API if request.path_info.startswith(API_ROOT) else WEB
        return self.answer(request, via)

    def answer(self, request: HttpRequest, via: str) -> HttpResponse:
        with audit.acting(Actor(via, client_address(request), lambda: _actor(request))):
            response = self._get_response(request)
        session = request.session
        if session.accessed and _is_user_action(request):
            try:
                if SESSION_KEY in session:
                    note_use(session)
            except DatabaseError:  # the view has reported it already
                pass
        return response


def client_address(request: HttpRequest) -> str:
    """The address of the client; "" if only that of a proxy is known."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    return address_of(request.META.get("REMOTE_ADDR", ""), forwarded, conf.trusted_proxies())


def _is_user_action(request: HttpRequest) -> bool:
    """Whether the user caused the request, and not the polling of an open page. Browsers send Sec-Fetch-Mode; requests
    without it count as a user's."""
    return request.method not in {"GET", "HEAD"} or request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"


def _actor(request: Any) -> tuple[Any, int | None]:
    """The current user and API token; on the API the authentication replaces the session's user."""
    person = request.user if request.user.is_authenticated else None
    caller = getattr(request, "caller", None)
    token = caller.token if caller is not None else None
    return person, token.pk if token is not None else None
