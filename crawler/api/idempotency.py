"""Calls with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): run once, answered each time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from crawler import clock
from crawler.accounts import idempotency
from crawler.accounts.idempotency import ClaimedCall, FinishedCall, OtherCall, UnderWay
from crawler.api.callers import ApiRequest, Caller
from crawler.api.problems import Problem

MAX_KEY_LENGTH = 255
KEPT_HEADERS = ("Content-Type", "Location")


def key_of(request: HttpRequest) -> str | None:
    """The call's key; None if it has none, or if its method is idempotent anyway. Clients of Firecrawl send it with the
    prefix "x-"."""
    key = request.headers.get("Idempotency-Key") or request.headers.get("X-Idempotency-Key")
    if key is None or request.method != "POST":
        return None
    if len(key) > MAX_KEY_LENGTH or not (key.isascii() and key.isprintable()):
        raise Problem(400, f"An Idempotency-Key has 1 to {MAX_KEY_LENGTH} plain ASCII characters, such as a UUID.")
    return key


def done_once(request: ApiRequest, caller: Caller, key: str, call: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The response to the call, made now or by an earlier call."""
    digest = idempotency.digest_of("POST", request.path, _sent(request), caller.scopes)
    match idempotency.claim(caller.user, key, digest, clock.now()):
        case ClaimedCall() as mine:
            return _done(request, mine, call)
        case FinishedCall(status, headers, body):
            return HttpResponse(body, status=status, headers={**headers, "Idempotency-Replayed": "true"})
        case UnderWay():
            detail = "A call with this Idempotency-Key is in progress; repeat it in a second for the response."
            raise Problem(409, detail, headers={"Retry-After": "1"})
        case OtherCall():
            raise Problem(422, "This Idempotency-Key was used for another call; use a new one for each call.")


def id_to_make(request: ApiRequest) -> UUID | None:
    """The id for the object that this call creates; None = any."""
    return request.claim.made_id if request.claim else None


def may_be_made(request: ApiRequest) -> UUID | None:
    """The id under which an earlier attempt of this call, which crashed, may have created the object."""
    return request.claim.made_id if request.claim and request.claim.is_second_try else None


def _sent(request: ApiRequest) -> bytes:
    """The bytes that distinguish this call's body. A form has another boundary each time it is sent, so its parts are
    hashed; files may be large."""
    if request.content_type != "multipart/form-data":
        return request.body
    digest = hashlib.sha256(repr(sorted(request.POST.lists())).encode())
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            digest.update(repr((name, file.name, file.size)).encode())
            for piece in file.chunks():
                digest.update(piece)
            file.seek(0)
    return digest.digest()


def _done(request: ApiRequest, mine: ClaimedCall, call: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    request.claim = mine
    try:
        response = call()
    except BaseException:
        idempotency.release(mine)
        raise
    if response.status_code >= 500 or not isinstance(response, HttpResponse):
        idempotency.release(mine)
    elif response.status_code >= 400:
        idempotency.give_back(mine)
    else:
        headers = {name: response[name] for name in KEPT_HEADERS if name in response}
        idempotency.keep(mine, response.status_code, headers, response.content.decode())
    return response
