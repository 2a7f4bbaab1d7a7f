"""Operations on the user's notice channels and on the deliveries of a crawl."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from msgspec.structs import asdict
from ninja import Status

from crawler.accounts.permissions import own_channels, sees_addresses
from crawler.accounts.slow_calls import slow_call
from crawler.api.addresses import address
from crawler.api.callers import ApiRequest
from crawler.api.idempotency import id_to_make
from crawler.api.lookups import channel_named, crawl_named, created, made_before, switched
from crawler.api.openapi import A_CRAWL, Operations
from crawler.api.paging import Cursor, Limit, newest_first
from crawler.api.problems import Problem
from crawler.api.schemas import account as shapes
from crawler.core.access.permissions import Right, Scope
from crawler.models import Delivery
from crawler.notices.delivery import SENT_AGAIN, resend
from crawler.notices.user_channels import (
    add_channel,
    change_channel,
    remove_channel,
    replace_secret,
    send_test,
    switch_channel,
)
from crawler.notices.webhook_secrets import make_secret

channel_router = Operations("channels")
secret_router = Operations("webhook_secrets", tag="channels")


@channel_router.on("GET", "List channels", Scope.CHANNELS_READ, shapes.Channels, {"items": [shapes.CHANNEL_EXAMPLE]})
def list_channels(request: ApiRequest) -> dict[str, Any]:
    """The channels that notify you of all your crawls, the oldest first."""
    return {"items": [shapes.channel_of(channel) for channel in own_channels(request.user).order_by("created_at")]}


@channel_router.on(
    "POST",
    "Add a channel",
    Scope.CHANNELS_WRITE,
    shapes.NewChannel,
    shapes.MADE_EXAMPLE,
    sends=shapes.WANTED_EXAMPLE,
    status=201,
)
def create_channel(request: ApiRequest, body: shapes.ChannelInput, response: HttpResponse) -> Status[dict[str, Any]]:
    """It gets notices from now on; `test` shows whether it works. A webhook gets a secret, which only this response
    shows."""
    channel, secret = made_before(request, own_channels(request.user)), None
    if channel is None:
        channel, secret = add_channel(request.user, body.wanted(), id_to_make(request))
    return created(request, response, address("channels", channel.id), {**shapes.channel_of(channel), "secret": secret})


@channel_router.on(
    "GET /{uuid:channel_id}", "Get a channel", Scope.CHANNELS_READ, shapes.ChannelDetail, shapes.CHANNEL_EXAMPLE
)
def get_channel(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    return shapes.channel_of(channel_named(request, channel_id))


@channel_router.on(
    "PUT /{uuid:channel_id}",
    "Change a channel",
    Scope.CHANNELS_WRITE,
    shapes.ChannelDetail,
    shapes.CHANNEL_EXAMPLE,
    sends=shapes.WANTED_EXAMPLE,
)
def put_channel(request: ApiRequest, channel_id: UUID, body: shapes.ChannelInput) -> dict[str, Any]:
    """Replaces all its values; the address is kept if it is left out. Pending deliveries keep their address."""
    channel = channel_named(request, channel_id)
    change_channel(channel, body.wanted())
    return shapes.channel_of(channel)


@channel_router.on(
    "POST /{uuid:channel_id}/pause",
    "Pause a channel",
    Scope.CHANNELS_WRITE,
    shapes.ChannelStateChange,
    {"id": shapes.CHANNEL_ID, "enabled": False, "moved": True},
)
def pause(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """It gets no notices until it is resumed."""
    return _switch(request, channel_id, on=False)


@channel_router.on(
    "POST /{uuid:channel_id}/resume",
    "Resume a channel",
    Scope.CHANNELS_WRITE,
    shapes.ChannelStateChange,
    {"id": shapes.CHANNEL_ID, "enabled": True, "moved": True},
)
def resume(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """It gets notices again."""
    return _switch(request, channel_id, on=True)


@channel_router.on(
    "POST /{uuid:channel_id}/test",
    "Test a channel",
    Scope.CHANNELS_WRITE,
    shapes.TestResult,
    {"arrived": True, "message": "A test was sent: 200 OK."},
)
def test(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """Sends a test notice now and returns the result; once in ten seconds, and one test or preview at a time."""
    channel = channel_named(request, channel_id)
    with slow_call(request.user.pk):
        tried = send_test(channel)
    return {"arrived": tried.is_so, "message": tried.line}


@channel_router.on(
    "POST /{uuid:channel_id}/secret",
    "Replace the secret of a webhook",
    Scope.CHANNELS_WRITE,
    shapes.CreatedSecret,
    shapes.SECRET_EXAMPLE,
    name="make_secret",
)
def make_secret_of_channel(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """The new secret signs from now on; for a day so does the one before."""
    return asdict(replace_secret(channel_named(request, channel_id)))


@secret_router.on(
    "POST",
    "Make the secret of a crawl's webhook",
    Scope.CHANNELS_WRITE,
    shapes.CreatedSecret,
    shapes.SECRET_EXAMPLE,
    sends={"address": shapes.WANTED_EXAMPLE["address"]},
    name="make",
)
def make_secret_of_address(request: ApiRequest, body: shapes.WebhookAddress) -> dict[str, Any]:
    """Signs what your crawls send to this address, as one of their `notify_webhooks`. A secret that it had is
    replaced; for a day both sign."""
    return asdict(make_secret(request.user.pk, body.address))


@channel_router.on("DELETE /{uuid:channel_id}", "Remove a channel", Scope.CHANNELS_WRITE, status=204)
def delete_channel(request: ApiRequest, channel_id: UUID) -> Status[None]:
    """Its pending deliveries are given up."""
    remove_channel(channel_named(request, channel_id))
    return Status(204, None)


def _switch(request: ApiRequest, channel_id: UUID, *, on: bool) -> dict[str, Any]:
    channel = channel_named(request, channel_id)
    return switched(channel, on=on, moved=switch_channel(channel.id, on=on))


router = Operations("notices", below=A_CRAWL)


@router.on(
    "GET /notices",
    "List deliveries",
    Scope.CRAWLS_READ,
    shapes.Deliveries,
    {"items": [shapes.NOTICE_EXAMPLE], "next": None},
)
def list_notices(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """All deliveries of the crawl's notices with their results, the newest first."""
    crawl = crawl_named(request, crawl_id)
    in_full = sees_addresses(request.user, crawl)
    deliveries = Delivery.to_receivers().filter(notice__crawl=crawl).select_related("notice").defer("notice__receipt")
    return newest_first(request, deliveries, cursor, limit, lambda row: shapes.line_of(row, in_full=in_full))


@router.on(
    "POST /notices/{uuid:delivery_id}/again",
    "Send a notice again",
    Scope.CRAWLS_WRITE,
    shapes.SentAgain,
    {"message": SENT_AGAIN},
)
def send_again(request: ApiRequest, crawl_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """To the same receiver. A pending delivery is attempted at once instead."""
    done = resend(crawl_named(request, crawl_id, Right.CONTROL), delivery_id)
    if done is None:
        raise Problem(404, f"This crawl has no delivery {delivery_id}.")
    return {"message": done}
