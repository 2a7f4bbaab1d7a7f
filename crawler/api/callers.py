"""Who calls: the person a token acts for, or whoever is logged in."""

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
from crawler.accounts.idempotency import Mine
from crawler.accounts.logins import TooManyTries
from crawler.api.problems import Problem, nobody, not_allowed_by
from crawler.core.access.permissions import ALL_SCOPES, Scope, held
from crawler.frontier.rate_limit import WINDOW_S, count_call
from crawler.models import ApiToken
from crawler.queueing import queues


@dataclass(frozen=True)
class Caller:
    """A person, and what they may do by this call."""

    user: User
    scopes: frozenset[Scope]
    token: ApiToken | None  # None = logged in, by the session


class ApiRequest(HttpRequest):
    """A request behind the gate."""

    user: User
    caller: Caller | None  # None = nobody
    claim: Mine | None  # its claim to be done once, when it asked for that


def caller_of(request: HttpRequest) -> Caller | None:
    """Who calls; None for nobody. Raises Problem for a token that cannot be used, and for a page elsewhere that has a
    browser call without its person's knowing."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _by_token(secret.strip())
    if isinstance(request.user, User):
        if check_csrf(request) is not None:
            raise Problem(403, "A call by session that changes something needs the header X-CSRFToken; or use a token.")
        return Caller(request.user, ALL_SCOPES, None)
    return None


def recall(request: ApiRequest) -> None:
    """Look at the caller anew, for an answer that lasts: the token may have been revoked since, the login have ended,
    the person be another by now. Raises Problem for one who would not be let in any more."""
    caller = request.caller
    if caller is None:
        raise nobody(was_sent_a_token=False)
    if caller.token is not None:
        token = tokens.is_good(caller.token, clock.now())
        if token is None:
            raise nobody(was_sent_a_token=True)
        request.user = token.user
        return
    person = _by_session_anew(request)
    if person is None or person != caller.user:
        raise nobody(was_sent_a_token=False)
    request.user = person


def _by_session_anew(request: ApiRequest) -> User | None:
    """Who is logged in by this session now: it may have run out, been ended, or been made with an older password."""
    anew = HttpRequest()
    anew.session = type(request.session)(request.session.session_key)
    person = get_user(anew)
    return person if isinstance(person, User) else None


def _by_token(secret: str) -> Caller:
    now = clock.now()
    token = tokens.token_of(secret, now)
    if token is None:
        try:
            logins.failed(audit.address())
        except TooManyTries as error:
            raise Problem(429, str(error), headers={"Retry-After": str(error.wait)}) from None
        raise nobody(was_sent_a_token=True)
    tokens.note_use(token, now)
    return Caller(token.user, held(token.scopes), token)


class BearerToken(AuthBase):
    """A token with this scope; None = any token."""

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = "A token made at /account/tokens/."

    def __init__(self, scope: Scope | None) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: ApiRequest) -> Caller | None:  # type: ignore[override]  # the gate made it one
        if request.caller is None or request.caller.token is None:
            return None
        if self.scope is not None and self.scope not in request.caller.scopes:
            raise not_allowed_by(self.scope)
        return request.caller


class Session(AuthBase):
    """Whoever is logged in."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"
    openapi_description = "Being logged in on the web pages; calls that change something need X-CSRFToken besides."

    def __call__(self, request: ApiRequest) -> Caller | None:  # type: ignore[override]  # the gate made it one
        return request.caller if request.caller is not None and request.caller.token is None else None


def needs(scope: Scope) -> list[AuthBase]:
    """What an operation asks of its caller."""
    return [BearerToken(scope), Session()]


# How often one person may call. All their tokens share one count, so that making more tokens gives nothing more.

log = logging.getLogger(__name__)


def counted(caller: Caller) -> dict[str, str]:
    """Count this call; the headers that tell how many are left, or Problem when none is.

    Two generations of one draft (draft-ietf-httpapi-ratelimit-headers): `RateLimit-Limit`, `-Remaining` and `-Reset` as
    clients read them today, `RateLimit-Policy` and `RateLimit` as it has them now. Without Redis nothing is counted:
    what the table can answer is answered.
    """
    limit = conf.api_per_minute()
    if limit == 0:
        return {}
    try:
        calls = count_call(queues.connection(), f"user:{caller.user.pk}")
    except RedisError as error:
        log.warning("a call of the API is not counted, because Redis does not answer: %s", error)
        return {}
    left = max(0, limit - calls.made)
    headers = {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(left),
        "RateLimit-Reset": str(calls.ends_in),
        "RateLimit-Policy": f'"minute";q={limit};w={WINDOW_S}',
        "RateLimit": f'"minute";r={left};t={calls.ends_in}',
    }
    if calls.made > limit:
        detail = f"More than {limit} calls within a minute; go on in {calls.ends_in} s."
        raise Problem(429, detail, headers={**headers, "Retry-After": str(calls.ends_in)})
    return headers
