"""Operations on the caller and their tokens. Tokens are created on the web page only, so that a leaked token cannot
create another."""

from __future__ import annotations

from typing import Annotated, Any

from ninja import Path, Router, Status

from crawler import clock
from crawler.accounts import quotas, tokens
from crawler.accounts.permissions import groups_of
from crawler.api.callers import ApiRequest, BearerToken, Session, needs
from crawler.api.openapi import described
from crawler.api.problems import Problem, unauthenticated
from crawler.api.schemas import account as shapes
from crawler.core.access.permissions import Scope
from crawler.core.pages.page_query import MAX_KEY

router = Router(tags=["tokens"])
me = Router(tags=["tokens"])


@me.get(
    "",
    operation_id="tokens_get_me",
    auth=[BearerToken(None), Session()],
    response=shapes.Me,
    summary="Ask who you are",
    openapi_extra=described(
        {
            "user": "ann",
            "superuser": False,
            "groups": ["editors"],
            "quota": shapes.QUOTA_EXAMPLE,
            "scopes": shapes.EXAMPLE["scopes"],
            "token": shapes.EXAMPLE,
        }
    ),
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


@router.get(
    "",
    operation_id="tokens_list_tokens",
    auth=needs(Scope.TOKENS_READ),
    response=shapes.Tokens,
    summary="List your tokens",
    openapi_extra=described({"items": [shapes.EXAMPLE]}),
)
def list_tokens(request: ApiRequest) -> dict[str, Any]:
    """The newest first, without their secrets."""
    return {"items": [shapes.token_of(token) for token in tokens.tokens_of(request.user)]}


@router.delete(
    "/{token_id}",
    operation_id="tokens_revoke_token",
    auth=needs(Scope.TOKENS_WRITE),
    response={204: None},
    summary="Revoke a token",
    openapi_extra=described(status=204),
)
def revoke_token(request: ApiRequest, token_id: Annotated[int, Path(ge=0, le=MAX_KEY)]) -> Status[None]:
    """It cannot be used any more."""
    if not tokens.revoke(request.user, token_id, clock.now()):
        raise Problem(404, f"You have no token {token_id}.")
    return Status(204, None)
