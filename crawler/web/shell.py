"""What every page shares: the login, the security headers, and the page shown when a service is down."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

Door = Callable[..., HttpResponseBase]

# Everything a page needs comes from this site's own files: a script that gets into a page's text does not run.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_log = logging.getLogger("crawler.web")


def public_page(door: Door) -> Door:
    """A page anybody may open."""

    @wraps(door)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = door(request, *args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            _log.error("the database does not answer: %s", error)
            response = _service_down("The database does not answer.")
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return guarded


def page(door: Door) -> Door:
    """A page for those who are logged in; the others are sent to the login."""
    return public_page(login_required(door))


def _service_down(message: str) -> HttpResponse:
    """Rendered without a request: who is logged in stands in the database that does not answer."""
    return HttpResponse(render_to_string("503.html", {"message": message}), status=503)
