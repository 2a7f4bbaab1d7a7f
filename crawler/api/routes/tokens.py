"""Operations on the caller and their tokens. Tokens are created on the web page only, so that a leaked token cannot
create another."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Path, Status

from crawler import clock
from crawler.accounts import quotas, tokens
from crawler.accounts.permissions import groups_of
from crawler.api.callers import ApiRequest
from crawler.api.openapi import Operations
from crawler.api.problems import Problem, unauthenticated
from crawler.api.schemas import account as shapes
from crawler.core.access.permissions import Scope
from crawler.core.pages.page_query import MAX_KEY

router = Operations("tokens")
me = Operations("tokens")


@me.on(
    "GET",
    "Get your account",
    None,
    shapes.Me,
    {
        "user": "ann",
        "superuser": False,
        "groups": ["editors"],
        "quota": shapes.QUOTA_EXAMPLE,
        "scopes": shapes.EXAMPLE["scopes"],
        "token": shapes.EXAMPLE,
    },
)
def get_me(request: ApiRequest) -> dict[str, Any]:
    """The user the call acts for, and what it may do. Any token is enough."""
    caller = request.caller
    if caller is None:  # for the type checker: an unknown caller was refused before
        raise unauthenticated(was_sent_a_token=False)
    who, now = caller.user, clock.now()
    return {
        "user": who.get_username(),
        "superuser": who.is_superuser,
        "groups": list(groups_of(who).values_list("name", flat=True)),
        "quota": shapes.quota_of(quotas.quota(who.pk), quotas.used(who.pk, now)),
        "scopes": sorted(caller.scopes),
        "token": caller.token and shapes.token_of(caller.token),
    }


@router.on("GET", "List your tokens", Scope.TOKENS_READ, shapes.Tokens, {"items": [shapes.EXAMPLE]})
def list_tokens(request: ApiRequest) -> dict[str, Any]:
    """The newest first, without their secrets."""
    return {"items": [shapes.token_of(token) for token in tokens.tokens_of(request.user)]}


@router.on("DELETE /{token_id}", "Revoke a token", Scope.TOKENS_WRITE, status=204)
def revoke_token(request: ApiRequest, token_id: Annotated[int, Path(ge=0, le=MAX_KEY)]) -> Status[None]:
    """It cannot be used any more."""
    if not tokens.revoke(request.user, token_id, clock.now()):
        raise Problem(404, f"You have no token {token_id}.")
    return Status(204, None)
