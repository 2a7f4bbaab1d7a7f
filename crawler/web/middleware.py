"""Records who acts in a request, and that a session is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from crawler import conf
from crawler.accounts import audit
from crawler.accounts.audit import API, WEB, Acting
from crawler.accounts.logins import note_use
from crawler.core.access.client_address import address_of

API_ROOT = "/api/"


class Visits:
    """Tells the audit log who acts, and keeps the session of somebody who does something from running out. It asks for
    no session that nobody else has asked for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        via = API if request.path_info.startswith(API_ROOT) else WEB
        with audit.acting(Acting(via, comes_from(request), lambda: _who(request))):
            response = self._get_response(request)
        session = request.session
        if session.accessed and _is_somebodys_doing(request):
            try:
                if SESSION_KEY in session:
                    note_use(session)
            except DatabaseError:  # whoever answered has said so already
                pass
        return response


def comes_from(request: HttpRequest) -> str:
    """The address of whoever asks; "" where only a proxy's is known."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    return address_of(request.META.get("REMOTE_ADDR", ""), forwarded, conf.trusted_proxies())


def _is_somebodys_doing(request: HttpRequest) -> bool:
    """Not an open page that asks by itself how things stand. Browsers say what they ask for; others are taken to be
    somebody."""
    return request.method not in {"GET", "HEAD"} or request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate"


def _who(request: Any) -> tuple[Any, int | None]:
    """The person by now, and their token: on the API the gate puts them in the place of the session's."""
    person = request.user if request.user.is_authenticated else None
    caller = getattr(request, "caller", None)
    token = caller.token if caller is not None else None
    return person, token.pk if token is not None else None
