"""The headers every answer has, whoever made it: a view, the admin, the files' server, or Django itself; and answers
that are headers alone."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

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
