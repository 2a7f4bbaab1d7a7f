"""The wrapper of every API view: authentication, rate limit, idempotency, errors, headers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from crawler.api.callers import ApiRequest, caller_of, counted
from crawler.api.idempotency import done_once, key_of
from crawler.api.problems import Problem, nothing_here, problem, service_down
from crawler.crawls.holds import database_error_message

View = Callable[..., HttpResponseBase]
Call = Callable[[], HttpResponseBase]

ALWAYS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
    ),
}
"""Headers of every response that does not set them itself."""

SENT_TOO_SLOWLY = "The body did not arrive in full, or came too slowly. Send it again."

log = logging.getLogger(__name__)


def api_view(view: View) -> View:
    """Wraps a view in these steps:

    1. Refuse an address that no table could store.
    2. Identify the caller; the view decides what an unknown caller may do.
    3. Count the call against the rate limit.
    4. Run a call with an Idempotency-Key once.
    """

    @csrf_exempt  # `caller_of` checks the CSRF token of callers by session
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        limit_headers: dict[str, str] = {}
        try:
            response = _respond(cast(ApiRequest, request), lambda: view(request, *args, **kwargs), limit_headers)
        except Problem as trouble:
            response = trouble.response()
        except RequestDataTooBig:
            response = problem(413, "The body is too large. Send a long list of URLs to POST /api/v1/crawls/list.")
        except (MultiPartParserError, SuspiciousOperation) as error:
            response = problem(400, f"The request cannot be read: {error}.")
        except UnreadablePostError:
            response = problem(408, SENT_TOO_SLOWLY)
        except (OperationalError, InterfaceError) as error:
            log.error("the database does not respond: %s", error)
            response = service_down(database_error_message(error)).response()
        return _finished(response, limit_headers)

    return wrapped


def not_there(request: HttpRequest) -> HttpResponse:
    """The response for an unknown address."""
    return problem(404, nothing_here())


def _respond(request: ApiRequest, call: Call, limit_headers: dict[str, str]) -> HttpResponseBase:
    if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
        raise Problem(400, "The address contains a NUL character; leave it out.")
    request.claim = None
    request.caller = caller_of(request)
    if request.caller is None:
        return call()
    request.user = request.caller.user
    limit_headers |= counted(request.caller)
    key = key_of(request)
    return call() if key is None else done_once(request, request.caller, key, call)


def _finished(response: HttpResponseBase, limit_headers: dict[str, str]) -> HttpResponseBase:
    if response.status_code == 405:
        response = problem(405, "This address does not support the method.", headers={"Allow": response["Allow"]})
    for name, value in {**limit_headers, **ALWAYS}.items():
        response.headers.setdefault(name, value)
    return response
