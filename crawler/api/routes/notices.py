"""Operations on the user's notice channels and on the deliveries of a crawl."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Status

from crawler.accounts.permissions import own_channels, sees_addresses
from crawler.accounts.slow_calls import slow_call
from crawler.api.callers import ApiRequest, needs
from crawler.api.idempotency import id_to_make
from crawler.api.lookups import channel_named, crawl_named, created, made_before, switched
from crawler.api.openapi import described
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

ROOT = "/api/v1/channels"

channel_router = Router(tags=["channels"])
secret_router = Router(tags=["channels"])


@channel_router.get(
    "",
    operation_id="channels_list_channels",
    auth=needs(Scope.CHANNELS_READ),
    response=shapes.Channels,
    summary="List channels",
    openapi_extra=described({"items": [shapes.CHANNEL_EXAMPLE]}),
)
def list_channels(request: ApiRequest) -> dict[str, Any]:
    """The channels that notify you of all your crawls, the oldest first."""
    return {"items": [shapes.channel_of(channel) for channel in own_channels(request.user).order_by("created_at")]}


@channel_router.post(
    "",
    operation_id="channels_create_channel",
    auth=needs(Scope.CHANNELS_WRITE),
    response={201: shapes.NewChannel},
    summary="Add a channel",
    openapi_extra=described(shapes.MADE_EXAMPLE, status=201, sends=shapes.WANTED_EXAMPLE),
)
def create_channel(request: ApiRequest, body: shapes.ChannelInput, response: HttpResponse) -> Status[dict[str, Any]]:
    """It gets notices from now on; `test` shows whether it works. A webhook gets a secret, which only this response
    shows."""
    channel, secret = made_before(request, own_channels(request.user)), None
    if channel is None:
        channel, secret = add_channel(request.user, body.wanted(), id_to_make(request))
    return created(request, response, f"{ROOT}/{channel.id}", {**shapes.channel_of(channel), "secret": secret})


@channel_router.get(
    "/{uuid:channel_id}",
    operation_id="channels_get_channel",
    auth=needs(Scope.CHANNELS_READ),
    response=shapes.ChannelDetail,
    summary="Look at a channel",
    openapi_extra=described(shapes.CHANNEL_EXAMPLE),
)
def get_channel(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    return shapes.channel_of(channel_named(request, channel_id))


@channel_router.put(
    "/{uuid:channel_id}",
    operation_id="channels_put_channel",
    auth=needs(Scope.CHANNELS_WRITE),
    response=shapes.ChannelDetail,
    summary="Change a channel",
    openapi_extra=described(shapes.CHANNEL_EXAMPLE, sends=shapes.WANTED_EXAMPLE),
)
def put_channel(request: ApiRequest, channel_id: UUID, body: shapes.ChannelInput) -> dict[str, Any]:
    """Replaces all its values; the address is kept if it is left out. Pending deliveries keep their address."""
    channel = channel_named(request, channel_id)
    change_channel(channel, body.wanted())
    return shapes.channel_of(channel)


@channel_router.post(
    "/{uuid:channel_id}/pause",
    operation_id="channels_pause",
    auth=needs(Scope.CHANNELS_WRITE),
    response=shapes.ChannelStateChange,
    summary="Pause a channel",
    openapi_extra=described({"id": shapes.CHANNEL_ID, "enabled": False, "moved": True}),
)
def pause(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """It gets no notices until it is resumed."""
    return _switch(request, channel_id, on=False)


@channel_router.post(
    "/{uuid:channel_id}/resume",
    operation_id="channels_resume",
    auth=needs(Scope.CHANNELS_WRITE),
    response=shapes.ChannelStateChange,
    summary="Resume a channel",
    openapi_extra=described({"id": shapes.CHANNEL_ID, "enabled": True, "moved": True}),
)
def resume(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """It gets notices again."""
    return _switch(request, channel_id, on=True)


@channel_router.post(
    "/{uuid:channel_id}/test",
    operation_id="channels_test",
    auth=needs(Scope.CHANNELS_WRITE),
    response=shapes.TestResult,
    summary="Test a channel",
    openapi_extra=described({"arrived": True, "message": "A test was sent: 200 OK."}),
)
def test(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """Sends a test notice now and returns the result; once in ten seconds, and one test or preview at a time."""
    channel = channel_named(request, channel_id)
    with slow_call(request.user.pk):
        tried = send_test(channel)
    return {"arrived": tried.is_so, "message": tried.line}


@channel_router.post(
    "/{uuid:channel_id}/secret",
    operation_id="channels_make_secret",
    auth=needs(Scope.CHANNELS_WRITE),
    response=shapes.CreatedSecret,
    summary="Replace the secret of a webhook",
    openapi_extra=described(shapes.SECRET_EXAMPLE),
)
def make_secret_of_channel(request: ApiRequest, channel_id: UUID) -> dict[str, Any]:
    """The new secret signs from now on; for a day so does the one before."""
    return vars(replace_secret(channel_named(request, channel_id)))


@secret_router.post(
    "",
    operation_id="webhook_secrets_make",
    auth=needs(Scope.CHANNELS_WRITE),
    response=shapes.CreatedSecret,
    summary="Make the secret of a crawl's webhook",
    openapi_extra=described(shapes.SECRET_EXAMPLE, sends={"address": shapes.WANTED_EXAMPLE["address"]}),
)
def make_secret_of_address(request: ApiRequest, body: shapes.WebhookAddress) -> dict[str, Any]:
    """Signs what your crawls send to this address, as one of their `notify_webhooks`. A secret that it had is
    replaced; for a day both sign."""
    return vars(make_secret(request.user.pk, body.address))


@channel_router.delete(
    "/{uuid:channel_id}",
    operation_id="channels_delete_channel",
    auth=needs(Scope.CHANNELS_WRITE),
    response={204: None},
    summary="Remove a channel",
    openapi_extra=described(status=204),
)
def delete_channel(request: ApiRequest, channel_id: UUID) -> Status[None]:
    """Its pending deliveries are given up."""
    remove_channel(channel_named(request, channel_id))
    return Status(204, None)


def _switch(request: ApiRequest, channel_id: UUID, *, on: bool) -> dict[str, Any]:
    channel = channel_named(request, channel_id)
    return switched(channel, on=on, moved=switch_channel(channel.id, on=on))


router = Router(tags=["notices"])


@router.get(
    "/{uuid:crawl_id}/notices",
    operation_id="notices_list_notices",
    auth=needs(Scope.CRAWLS_READ),
    response=shapes.Deliveries,
    summary="List deliveries",
    openapi_extra=described({"items": [shapes.NOTICE_EXAMPLE], "next": None}),
)
def list_notices(request: ApiRequest, crawl_id: UUID, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """All deliveries of the crawl's notices with their results, the newest first."""
    crawl = crawl_named(request, crawl_id)
    in_full = sees_addresses(request.user, crawl)
    deliveries = Delivery.to_receivers().filter(notice__crawl=crawl).select_related("notice").defer("notice__receipt")
    return newest_first(request, deliveries, cursor, limit, lambda row: shapes.line_of(row, in_full=in_full))


@router.post(
    "/{uuid:crawl_id}/notices/{uuid:delivery_id}/again",
    operation_id="notices_send_again",
    auth=needs(Scope.CRAWLS_WRITE),
    response=shapes.SentAgain,
    summary="Send a notice again",
    openapi_extra=described({"message": SENT_AGAIN}),
)
def send_again(request: ApiRequest, crawl_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """To the same receiver. A pending delivery is attempted at once instead."""
    done = resend(crawl_named(request, crawl_id, Right.CONTROL), delivery_id)
    if done is None:
        raise Problem(404, f"This crawl has no delivery {delivery_id}.")
    return {"message": done}
