"""The doors by which an owner shares a crawl and says that it is to be kept."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ninja import Router, Schema
from pydantic import ConfigDict, Field

from crawler.api.callers import ApiRequest, needs
from crawler.api.described import CRAWL_ID, described
from crawler.api.finding import crawl_named, group_named
from crawler.core.rights import Right
from crawler.core.scopes import Scope
from crawler.engine.share import keep, share

router = Router(tags=["crawls"])


class Share(Schema):
    """Who else sees a crawl."""

    model_config = ConfigDict(extra="forbid")

    group: str | None = Field(max_length=150, description="The name of a group you are in; null: nobody else.")
    group_controls: bool = Field(False, description="Its members may pause, resume and cancel it, too.")


class Shared(Schema):
    id: UUID
    group: str | None
    group_controls: bool
    changed: bool


class Keep(Schema):
    """Whether a crawl is kept."""

    model_config = ConfigDict(extra="forbid")

    keep: bool = Field(description="Keep it whatever its age.")


class KeptCrawl(Schema):
    id: UUID
    keep: bool
    changed: bool


@router.post(
    "/{uuid:crawl_id}/share",
    operation_id="sharing_share_crawl",
    auth=needs(Scope.CRAWLS_WRITE),
    response=Shared,
    summary="Share a crawl",
    openapi_extra=described(
        {"id": CRAWL_ID, "group": "editors", "group_controls": False, "changed": True}, sends={"group": "editors"}
    ),
)
def share_crawl(request: ApiRequest, crawl_id: UUID, body: Share) -> dict[str, Any]:
    """With the members of a group you are in, or with nobody any more."""
    crawl = crawl_named(request, crawl_id, Right.OWN)
    group = group_named(request.user, body.group, crawl.group)
    changed = share(crawl, request.user, group, group_controls=body.group_controls)
    return {
        "id": crawl.id,
        "group": group and group.name,
        "group_controls": crawl.group_controls,
        "changed": changed,
    }


@router.post(
    "/{uuid:crawl_id}/keep",
    operation_id="sharing_keep_crawl",
    auth=needs(Scope.CRAWLS_WRITE),
    response=KeptCrawl,
    summary="Keep a crawl",
    openapi_extra=described({"id": CRAWL_ID, "keep": True, "changed": True}, sends={"keep": True}),
)
def keep_crawl(request: ApiRequest, crawl_id: UUID, body: Keep) -> dict[str, Any]:
    """Until you delete it, whatever its age; or (`false`) no longer."""
    crawl = crawl_named(request, crawl_id, Right.OWN)
    return {"id": crawl.id, "keep": body.keep, "changed": keep(crawl, is_kept=body.keep)}
