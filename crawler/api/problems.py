"""Error responses as application/problem+json (RFC 9457), and the strict parser of JSON bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

import msgspec
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from ninja.parser import Parser

from crawler.api.addresses import address


def nothing_here() -> str:
    return f"There is nothing at this address; {address('docs')} lists the calls."


MEDIA_TYPE = "application/problem+json"
TROUBLE = "An internal error; the server's log has the details."
DETAILS = {
    400: "The request cannot be read: check its address, Host header and body.",
    413: "The body is too large for this call. Send a long list of URLs to POST /api/v1/crawls/list.",
    500: TROUBLE,
}


class Problem(Exception):
    """A call that is answered with an error. `errors` name the invalid parts of the request."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors, self.headers = status, detail, errors, dict(headers or {})

    def response(self) -> HttpResponse:
        return problem(self.status, self.detail, errors=self.errors, headers=self.headers)


def problem(
    status: int, detail: str, *, errors: Sequence[Mapping[str, str]] = (), headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The response. `success` and `error` are for clients of Firecrawl, which read nothing else."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "success": False,
        "error": detail,
    }
    if errors:
        body["errors"] = [dict(error) for error in errors]
    return JsonResponse(body, status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def place(where: Sequence[str | int], detail: str) -> dict[str, str]:
    """One invalid part: ("body", "start_urls", 0) is field "start_urls.0" and pointer "#/start_urls/0"
    (RFC 6901); ("query", "limit") is a parameter."""
    source, *path = map(str, where or ("body",))
    named = {"field": ".".join(path), "in": source, "detail": detail}
    if source == "body":
        named["pointer"] = "#" + "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)
    return named


def unauthenticated(*, was_sent_a_token: bool) -> Problem:
    """The caller is unknown (RFC 6750, 3)."""
    where = reverse("token-list")
    if was_sent_a_token:
        detail = f"This token is unknown, expired or revoked. Create one at {where}."
        challenge = 'Bearer realm="api", error="invalid_token"'
    else:
        detail = f"Send a token as `Authorization: Bearer ...`; create one at {where}."
        challenge = 'Bearer realm="api"'
    return Problem(401, detail, headers={"WWW-Authenticate": challenge})


def not_allowed_by(scope: str) -> Problem:
    """The token does not have the scope (RFC 6750, 3.1)."""
    challenge = f'Bearer realm="api", error="insufficient_scope", scope="{scope}"'
    return Problem(403, f"This token lacks the scope {scope}.", headers={"WWW-Authenticate": challenge})


def service_down(detail: str) -> Problem:
    return Problem(503, detail, headers={"Retry-After": "5"})


class Problems:
    """A middleware: errors below /api/ that Django answers by itself, outside a view, are problems too, and never HTML
    pages, not even the one with a traceback."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        status = response.status_code
        if not f"{request.path_info}/".startswith("/api/") or status < 400:
            return response
        if response.headers.get("Content-Type") == MEDIA_TYPE:
            return response
        detail = nothing_here() if status == HTTPStatus.NOT_FOUND else DETAILS.get(status)
        return problem(status, detail or f"{HTTPStatus(status).phrase}.")


MAX_NESTING = 50


class StrictParser(Parser):
    """Strict RFC 8259, so that tables can store every value: no NaN, no unpaired surrogate, no NUL character."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        if request.content_type == "multipart/form-data":
            raise no_form()
        return cast(dict[str, Any], read_json(request.body or b"{}"))


def no_form() -> Problem:
    return Problem(415, "This call accepts JSON, not a form; only POST /crawls/list accepts forms.")


def read_json(text: bytes) -> Any:
    """Problem if it is not JSON, or has a value that no table could store."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}.") from None
    _check(value, MAX_NESTING)
    return value


def _check(value: Any, levels: int) -> None:
    if levels == 0:
        raise Problem(400, f"The body nests more than {MAX_NESTING} levels deep.")
    if isinstance(value, str) and "\0" in value:
        raise Problem(400, "The body contains a NUL character; leave it out.")
    for part in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check(part, levels - 1)
