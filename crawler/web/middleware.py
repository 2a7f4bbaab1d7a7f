"""The headers every answer has, whoever made it: a view, the admin, the files' server, or Django itself; and answers
that are headers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from crawler import conf
from crawler.accounts import audit
from crawler.accounts.audit import API, WEB, Acting
from crawler.accounts.sessions import note_use
from crawler.core.access.client_address import address_of

Next = Callable[[HttpRequest], HttpResponseBase]

# Everything a page needs comes from this site's own files: a script that gets into a page's text does not run, and a
# style does not count.
OF_PAGES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OF_THE_REST = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
"""Opened as a page all the same, it may do nothing."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # a site that was crawled does not learn from a click where we are
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": ", ".join(
        f"{name}=()" for name in ("camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb")
    ),
    "Cache-Control": "no-store",  # what is for anybody, our files, says how long it may be kept
}


class Headers:
    """A middleware, the first of all, so that it sees the answers of the others. What an answer says itself counts."""

    def __init__(self, get_response: Next) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        response.headers.setdefault("Content-Security-Policy", OF_PAGES if is_page else OF_THE_REST)
        for name, value in ALWAYS.items():
            response.headers.setdefault(name, value)
        return response


class Heads:
    """A middleware that answers HEAD wherever GET is answered, with the same headers and no body (RFC 9110, 9.3.2):
    views see a GET. What would be streamed is closed before any of it is made."""

    def __init__(self, get_response: Next) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return _allowing_head(self._get_response(request))
        request.method = "GET"
        response = self._get_response(request)
        request.method = "HEAD"
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()  # the server closes what was here at the end of the answer
        elif isinstance(response, HttpResponse):
            response.content = b""  # Content-Length was counted before
        return _allowing_head(response)


def _allowing_head(response: HttpResponseBase) -> HttpResponseBase:
    """The answer; one that names the methods of an address names HEAD beside GET."""
    methods = response.headers.get("Allow", "").split(", ")
    if "GET" in methods and "HEAD" not in methods:
        response.headers["Allow"] = ", ".join([*methods, "HEAD"])
    return response


# What is known of every request: who stands behind what is done in it, and that somebody is still there.

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
