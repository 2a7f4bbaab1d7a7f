"""View decorators: the login, and the page shown if the database does not answer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, UnreadablePostError
from django.shortcuts import render, resolve_url
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from crawler.crawls.holds import database_error_message

View = Callable[..., HttpResponseBase]

HTMX_STOP_POLLING = 286  # status by which htmx shows the part and stops polling

_log = logging.getLogger("crawler.web")


def public_page(view: View) -> View:
    """A page without login."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except UnreadablePostError:
            return HttpResponse("The form arrived incomplete or too slowly. Send it again.\n", "text/plain", 408)
        except (OperationalError, InterfaceError) as error:
            _log.error("the database does not respond: %s", error)
            return _service_down(database_error_message(error))

    return guarded


def page(view: View) -> View:
    """A page that requires login; other users are redirected to the login page and back."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if is_part(request):
            return _logged_out(request)
        return redirect_to_login(_where_to(request, kwargs.get("crawl_id")), login_address())

    return public_page(guarded)


def page_to_read(view: View) -> View:
    """A `page` that is only looked at; no cache keeps it."""
    return never_cache(require_GET(page(view)))


def page_to_post(view: View) -> View:
    """A `page` that only takes a form."""
    return require_POST(page(view))


def person(request: HttpRequest) -> User:
    """The user who is logged in, on a `page`."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def is_part(request: HttpRequest) -> bool:
    """Whether htmx requests a part of an open page, and not the browser a whole page."""
    return "HX-Request" in request.headers


def _logged_out(request: HttpRequest) -> HttpResponse:
    """The part shown after a logout. A redirect would put the login page in the middle of the open page."""
    where = urlsplit(request.headers.get("HX-Current-URL", "")).path or reverse("crawl-list")
    return render(request, "crawler/logged_out.html", {"where": where}, status=HTMX_STOP_POLLING)


def login_address() -> str:
    """The login page of the settings; ours where another Django project has none at its address."""
    address = resolve_url(settings.LOGIN_URL)
    try:
        resolve(urlsplit(address).path)
    except Resolver404:
        return reverse("login")
    return address


def _where_to(request: HttpRequest, crawl_id: UUID | None) -> str:
    """Where to go after the login: for a POST, the page with the button, since the request must be repeated."""
    if request.method in {"GET", "HEAD"}:
        return request.get_full_path()
    return reverse("crawl-detail", args=[crawl_id]) if crawl_id else reverse("crawl-list")


def _service_down(message: str) -> HttpResponse:
    """Rendered without a request: its user would be read from the database, which does not answer."""
    return HttpResponse(render_to_string("crawler/503.html", {"message": message}), status=503)
