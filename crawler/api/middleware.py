"""What stands before every door of the API, and what every answer has."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from crawler.api.callers import ApiRequest, caller_of, counted
from crawler.api.idempotency import done_once, key_of
from crawler.api.problems import NOTHING_HERE, Problem, problem, service_down
from crawler.crawls.holds import database_error_message

View = Callable[..., HttpResponseBase]
Call = Callable[[], HttpResponseBase]

ALWAYS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
    ),
}
"""Headers of every answer that does not say otherwise."""

log = logging.getLogger(__name__)


def behind_the_gate(door: View) -> View:
    """The door, for those who may come in:

    1. Nothing is read that no table could keep.
    2. Whoever calls is known, or is nobody: then the door decides.
    3. The call is counted.
    4. One that has an Idempotency-Key is done once.
    """

    @csrf_exempt  # `caller_of` asks for the token of those who come by session
    @wraps(door)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        limit_headers: dict[str, str] = {}
        try:
            response = _let_in(cast(ApiRequest, request), lambda: door(request, *args, **kwargs), limit_headers)
        except Problem as trouble:
            response = trouble.response()
        except RequestDataTooBig:
            response = problem(413, "The body is too large. A long list of URLs goes to POST /api/v1/crawls/list.")
        except (MultiPartParserError, SuspiciousOperation) as error:
            response = problem(400, f"What was sent cannot be read: {error}.")
        except (OperationalError, InterfaceError) as error:
            log.error("the database does not answer: %s", error)
            response = service_down(database_error_message(error)).response()
        return _finished(response, limit_headers)

    return guarded


def not_there(request: HttpRequest) -> HttpResponse:
    """No door has this address."""
    return problem(404, NOTHING_HERE)


def _let_in(request: ApiRequest, call: Call, limit_headers: dict[str, str]) -> HttpResponseBase:
    if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
        raise Problem(400, "The address has a NUL character in it; leave it out.")
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
        response = problem(405, "This address does not know that method.", headers={"Allow": response["Allow"]})
    for name, value in {**limit_headers, **ALWAYS}.items():
        response.headers.setdefault(name, value)
    return response
