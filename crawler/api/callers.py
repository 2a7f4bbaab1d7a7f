"""Identifies the caller of the API, by token or session, and counts their calls."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.security.base import AuthBase
from ninja.utils import check_csrf
from redis import RedisError

from crawler import clock, conf
from crawler.accounts import audit, logins, tokens
from crawler.accounts.idempotency import ClaimedCall
from crawler.accounts.logins import TooManyTries
from crawler.api.problems import Problem, not_allowed_by, unauthenticated
from crawler.core.access.permissions import ALL_SCOPES, Scope, held
from crawler.frontier.rate_limit import API_CALLS, Limit, RedisRateLimiter
from crawler.models import ApiToken
from crawler.queueing import queues

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Caller:
    """A user, and what they may do by this call."""

    user: User
    scopes: frozenset[Scope]
    token: ApiToken | None  # None = logged in, by the session


class ApiRequest(HttpRequest):
    """A request inside `api_view`."""

    user: User
    caller: Caller | None  # None = unknown
    claim: ClaimedCall | None  # of its Idempotency-Key, if it has one


def caller_of(request: HttpRequest) -> Caller | None:
    """The caller; None if unknown. Raises Problem for an invalid token, and for a cross-site request (CSRF)."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _by_token(secret.strip())
    if isinstance(request.user, User):
        if check_csrf(request) is not None:
            raise Problem(403, "A session call that changes something needs the header X-CSRFToken; or use a token.")
        return Caller(request.user, ALL_SCOPES, None)
    return None


def recheck_caller(request: ApiRequest) -> None:
    """Check the caller again during a long response: the token may have been revoked, the session ended, or its user
    changed. Raises Problem if the caller would be refused now."""
    caller = request.caller
    if caller is None:
        raise unauthenticated(was_sent_a_token=False)
    if caller.token is not None:
        token = tokens.is_good(caller.token, clock.now())
        if token is None:
            raise unauthenticated(was_sent_a_token=True)
        request.user = token.user
        return
    person = _session_user_now(request)
    if person is None or person != caller.user:
        raise unauthenticated(was_sent_a_token=False)
    request.user = person


def _session_user_now(request: ApiRequest) -> User | None:
    """The user of this session now: it may have expired, been ended, or begun with an older password."""
    fresh = HttpRequest()
    fresh.session = type(request.session)(request.session.session_key)
    person = get_user(fresh)
    return person if isinstance(person, User) else None


def _by_token(secret: str) -> Caller:
    now = clock.now()
    token = tokens.token_of(secret, now)
    if token is None:
        try:
            logins.failed(logins.Kind.TOKEN, audit.address())
        except TooManyTries as error:
            raise Problem(429, str(error), headers={"Retry-After": str(error.wait)}) from None
        raise unauthenticated(was_sent_a_token=True)
    tokens.note_use(token, now)
    return Caller(token.user, held(token.scopes), token)


class BearerToken(AuthBase):
    """A token with this scope; None = any token."""

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = "A token created at /account/tokens/."

    def __init__(self, scope: Scope | None) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: ApiRequest) -> Caller | None:  # type: ignore[override]  # `api_view` made it one
        if request.caller is None or request.caller.token is None:
            return None
        if self.scope is not None and self.scope not in request.caller.scopes:
            raise not_allowed_by(self.scope)
        return request.caller


class Session(AuthBase):
    """A logged-in user."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"
    openapi_description = "The session of the web pages; calls that change something also need the header X-CSRFToken."

    def __call__(self, request: ApiRequest) -> Caller | None:  # type: ignore[override]  # `api_view` made it one
        return request.caller if request.caller is not None and request.caller.token is None else None


def counted(caller: Caller) -> dict[str, str]:
    """Count this call; returns the headers that state how many are left, or raises Problem if none is. All tokens of a
    user share one counter.

    Two generations of one draft (draft-ietf-httpapi-ratelimit-headers): `RateLimit-Limit`, `-Remaining` and `-Reset` as
    clients read them today, `RateLimit-Policy` and `RateLimit` as it has them now. While Redis is down nothing is
    counted, and what the database can answer is answered.
    """
    limit = conf.api_per_minute()
    if limit == 0:
        return {}
    try:
        calls = RedisRateLimiter(queues.connection(), API_CALLS).take([Limit(f"user:{caller.user.pk}", limit)])
    except RedisError as error:
        log.warning("a call of the API is not counted, because Redis does not respond: %s", error)
        return {}
    left = max(0, limit - calls.made[0])
    headers = {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(left),
        "RateLimit-Reset": str(calls.ends_in),
        "RateLimit-Policy": f'"minute";q={limit};w={API_CALLS.window_s:g}',
        "RateLimit": f'"minute";r={left};t={calls.ends_in}',
    }
    if calls.wait or calls.made[0] > limit:  # in the last millisecond of a window the wait is 0
        detail = f"More than {limit} calls within a minute; continue in {calls.ends_in} s."
        raise Problem(429, detail, headers={**headers, "Retry-After": str(calls.ends_in)})
    return headers
