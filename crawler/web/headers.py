"""Middleware for security headers on every response, for HEAD requests, and for the ids of requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from secrets import token_hex

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from crawler.logs import about

Next = Callable[[HttpRequest], HttpResponseBase]

# Only this site's own files are loaded: scripts and styles injected into the text of a page have no effect.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FILE_POLICY = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
"""For responses that are not pages; opened as a page, they can load nothing."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # a link to a crawled site does not reveal our address
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": ", ".join(
        f"{name}=()" for name in ("camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb")
    ),
    "Cache-Control": "no-store",  # static files set their own value
}


class SecurityHeaders:
    """The first middleware, so that it sees all responses. Headers that a response has already are not changed."""

    def __init__(self, get_response: Next) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        response.headers.setdefault("Content-Security-Policy", PAGE_POLICY if is_page else FILE_POLICY)
        for name, value in ALWAYS.items():
            response.headers.setdefault(name, value)
        return response


class HeadRequests:
    """Responds to HEAD wherever GET is allowed, with the same headers and no body (RFC 9110, 9.3.2): views see a GET. A
    streaming response is closed before any of it is generated."""

    def __init__(self, get_response: Next) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return _with_head_allowed(self._get_response(request))
        request.method = "GET"
        response = self._get_response(request)
        request.method = "HEAD"
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()  # the server closes the original stream at the end of the response
        elif isinstance(response, HttpResponse):
            response.content = b""  # Content-Length was counted before
        return _with_head_allowed(response)


def _with_head_allowed(response: HttpResponseBase) -> HttpResponseBase:
    """The response, with HEAD in its Allow header if it has GET."""
    methods = response.headers.get("Allow", "").split(", ")
    if "GET" in methods and "HEAD" not in methods:
        response.headers["Allow"] = ", ".join([*methods, "HEAD"])
    return response


REQUEST_ID = "X-Request-ID"
_USABLE_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


class RequestIds:
    """Gives each request an id, or takes that of the proxy or client. The response has it, and each line that is logged
    meanwhile."""

    def __init__(self, get_response: Next) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(REQUEST_ID, "")
        name = given if _USABLE_ID.fullmatch(given) else token_hex(8)
        with about(request_id=name):
            response = self._get_response(request)
        response.headers[REQUEST_ID] = name
        return response
