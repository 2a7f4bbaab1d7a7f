"""What every page shares: the login, and the page shown when a service is down."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse

from crawler.crawls.holds import database_error_message

Door = Callable[..., HttpResponseBase]

STOP_ASKING = 286  # htmx shows the part, and asks no more

_log = logging.getLogger("crawler.web")


def public_page(door: Door) -> Door:
    """A page anybody may open."""

    @wraps(door)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return door(request, *args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            _log.error("the database does not answer: %s", error)
            return _service_down(database_error_message(error))

    return guarded


def page(door: Door) -> Door:
    """A page for those who are logged in; the others are sent to the login, and from there to where they were."""

    @wraps(door)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return door(request, *args, **kwargs)
        if is_part(request):
            return _logged_out(request)
        return redirect_to_login(_where_to(request, kwargs.get("crawl_id")))

    return public_page(guarded)


def person(request: HttpRequest) -> User:
    """Who is logged in, on a `page`."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def is_part(request: HttpRequest) -> bool:
    """Whether a page that is open asks for a part of itself (htmx), and not the browser for a page."""
    return "HX-Request" in request.headers


def _logged_out(request: HttpRequest) -> HttpResponse:
    """In place of that part. A redirect would be followed, and the login would stand in the middle of the page."""
    where = urlsplit(request.headers.get("HX-Current-URL", "")).path or reverse("crawl-list")
    return render(request, "crawler/logged_out.html", {"where": where}, status=STOP_ASKING)


def _where_to(request: HttpRequest, crawl_id: UUID | None) -> str:
    """After the login. What was to be done by POST has to be asked for again, on the page that has the button."""
    if request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    return reverse("crawl-detail", args=[crawl_id]) if crawl_id else reverse("crawl-list")


def _service_down(message: str) -> HttpResponse:
    """Rendered without a request: who is logged in stands in the database that does not answer."""
    return HttpResponse(render_to_string("503.html", {"message": message}), status=503)
