"""Operations that change a crawl: pause, resume, cancel, finish, retry, end the wait for a host, share, keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

from crawler.api.callers import ApiRequest
from crawler.api.lookups import crawl_named, group_named
from crawler.api.openapi import A_CRAWL, CRAWL_ID, Operations
from crawler.api.paging import RowId
from crawler.api.problems import Problem
from crawler.api.schemas.crawl import StateChange, state_change_example
from crawler.api.schemas.fields import fields_of
from crawler.core.access.permissions import Right, Scope
from crawler.crawls.actions import ACTIONS, Action, reply_to
from crawler.crawls.control import keep, share
from crawler.crawls.retry import retry_failed
from crawler.manager.host_waits import end_host_waits, has_pages_of
from crawler.models import Crawl
from crawler.reports import text

router = Operations("control", tag="crawls", below=A_CRAWL)


class Again(Schema):
    """The dead letters to retry."""

    model_config = ConfigDict(extra="forbid")

    pages: list[RowId] | None = Field(None, max_length=1000, description="Their ids; leave out for all.")


class RetryResult(Schema):
    sent: int
    message: str


class NotWaiting(Schema):
    """The result of ending the wait for a host."""

    host: str
    had_to_wait: bool = Field(description="Whether the host was waiting.")
    crawls: int = Field(description="Running and paused crawls with pages on it.")
    message: str = Field(description="The same in words.")


def _operation_of(action: Action) -> Callable[[ApiRequest, UUID], dict[str, Any]]:
    def act(request: ApiRequest, crawl_id: UUID) -> dict[str, Any]:
        crawl = crawl_named(request, crawl_id, action.right)
        moved = action.run(crawl.id)
        reply = reply_to(action, moved, crawl.id)
        state = Crawl.objects.filter(pk=crawl.id).values_list("state", flat=True).first()
        if not reply.is_so or state is None:
            raise Problem(404 if state is None else 409, reply.line)
        return {"id": crawl.id, "state": state, "moved": moved, "message": reply.line}

    act.__name__, act.__doc__ = action.name, action.about
    return act


for _action in ACTIONS.values():
    _example = state_change_example(_action)
    _add = router.on(f"POST /{_action.name}", _action.summary, _action.scope, StateChange, _example)
    _add(_operation_of(_action))


@router.on(
    "POST /retry-failed",
    "Retry dead letters",
    Scope.CRAWLS_WRITE,
    RetryResult,
    {"sent": 2, "message": "2 pages queued for retry."},
    sends={"pages": [4711, 4712]},
)
def send_again(request: ApiRequest, crawl_id: UUID, body: Again | None = None) -> dict[str, Any]:
    """All of them, or those named. A crawl that was over runs again."""
    sent = retry_failed(crawl_named(request, crawl_id, Right.CONTROL).id, body.pages if body else None)
    return {"sent": sent, "message": text.to_retry(sent).line}


@router.on(
    "POST /hosts/{host}/forget",
    "End the wait for a host",
    Scope.CRAWLS_WRITE,
    NotWaiting,
    {
        "host": "example.com",
        "had_to_wait": True,
        "crawls": 1,
        "message": "The wait for example.com is ended: 1 crawl with its pages continues.",
    },
)
def forget_host(request: ApiRequest, crawl_id: UUID, host: str) -> dict[str, Any]:
    """Request pages of a host at once, despite its Retry-After and the automatic throttle; for all crawls, because they
    share the state of a host. Its Crawl-delay is kept. 404 if this crawl has no page that waits for it."""
    crawl = crawl_named(request, crawl_id, Right.CONTROL)
    if not has_pages_of(crawl, host):
        raise Problem(404, text.no_pages_of(host).line)
    done = end_host_waits(host)
    reply = text.to_forget(host, had_to_wait=done.had_to_wait, crawls=done.crawls)
    return {"host": host, "had_to_wait": done.had_to_wait, "crawls": done.crawls, "message": reply.line}


sharing_router = Operations("sharing", tag="crawls", below=A_CRAWL)


class Share(Schema):
    """The group that sees a crawl."""

    model_config = ConfigDict(extra="forbid")

    group: str | None = Field(max_length=150, description="The name of a group you are in; null: not shared.")
    group_controls: bool = Field(False, description="Its members can also pause, resume and cancel it.")


class SharingChange(Schema):
    id: UUID
    group: str | None
    group_controls: bool
    changed: bool


class Keep(Schema):
    """Whether a crawl is exempt from deletion by age."""

    model_config = ConfigDict(extra="forbid")

    keep: bool = Field(description="Keep it regardless of its age.")


class KeptCrawl(Schema):
    id: UUID
    keep: bool
    changed: bool


@sharing_router.on(
    "POST /share",
    "Share a crawl",
    Scope.CRAWLS_WRITE,
    SharingChange,
    {"id": CRAWL_ID, "group": "editors", "group_controls": False, "changed": True},
    sends={"group": "editors"},
)
def share_crawl(request: ApiRequest, crawl_id: UUID, body: Share) -> dict[str, Any]:
    """With the members of a group you are in, or no longer."""
    crawl = crawl_named(request, crawl_id, Right.OWN)
    group = group_named(request.user, body.group, crawl.group)
    changed = share(crawl, request.user, group, group_controls=body.group_controls)
    return fields_of(SharingChange, crawl, group=group and group.name, changed=changed)


@sharing_router.on(
    "POST /keep",
    "Keep a crawl",
    Scope.CRAWLS_WRITE,
    KeptCrawl,
    {"id": CRAWL_ID, "keep": True, "changed": True},
    sends={"keep": True},
)
def keep_crawl(request: ApiRequest, crawl_id: UUID, body: Keep) -> dict[str, Any]:
    """Exempt it from deletion by age; or (`false`) no longer."""
    crawl = crawl_named(request, crawl_id, Right.OWN)
    return {"id": crawl.id, "keep": body.keep, "changed": keep(crawl, is_kept=body.keep)}
