"""Middleware that refuses bodies before any of them is read: of clients that are not logged in, and those larger than
their address takes.

Django reads a form as soon as a view, or the check of the CSRF token, asks for one of its fields, and then stores the
files in it on the disk, even those of a client that is not logged in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from crawler import clock, conf
from crawler.accounts import tokens
from crawler.core.access.body_limits import ANONYMOUS_BYTES, body_limit
from crawler.core.access.permissions import ALL_SCOPES, Scope, held

TAKES_FILE = {"crawl-create", "api-1:create_crawl_over_list"}
"""The addresses that take a file, by name; by token they need the scope CRAWLS_WRITE."""


class LimitBodies:
    """Stands before the check of the CSRF token. Clients that are not logged in are not refused below /api/: there, the
    authentication comes before the body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponseBase | None:
        length = _length(request)
        if length <= ANONYMOUS_BYTES:
            return None
        try:
            scopes = _scopes_of(request)
        except (OperationalError, InterfaceError):
            return HttpResponse(
                render_to_string("crawler/503.html", {"message": "The database does not respond."}), status=503
            )
        if scopes is None and request.path_info.startswith("/api/"):
            return None
        match = request.resolver_match
        takes_file = match is not None and match.view_name in TAKES_FILE
        if takes_file and scopes is not None and Scope.CRAWLS_WRITE not in scopes:
            return HttpResponse(render_to_string("403.html"), status=403)
        limit = body_limit(
            is_known=scopes is not None,
            takes_file=takes_file,
            form_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0,
            upload_bytes=conf.upload_bytes(),
        )
        if length <= limit:
            return None
        context = {"limit": _shown(limit), "is_known": scopes is not None}
        return HttpResponse(render_to_string("crawler/413.html", context), status=413)


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0  # Django reads no body then


def _scopes_of(request: HttpRequest) -> Collection[Scope] | None:
    """What the client may do; None if it is neither logged in nor has a valid token."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        token = tokens.token_of(secret.strip(), clock.now())
        return None if token is None else held(token.scopes)
    return ALL_SCOPES if request.user.is_authenticated else None


def _shown(limit: int) -> str:
    return f"{limit // 1024:,} KiB" if limit < 10_000_000 else f"{limit // 1_000_000:,} MB"
