"""The views of the user's notice channels, and of the secrets of webhooks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from crawler.accounts.permissions import own_channels
from crawler.accounts.slow_calls import slow_call
from crawler.core.channels import webhook
from crawler.core.channels.catalogue import CHANNELS, masked
from crawler.core.errors import BadInput, TooBusy
from crawler.core.options.events import OF_A_CRAWL
from crawler.models import Channel, Delivery
from crawler.notices.user_channels import (
    add_channel,
    change_channel,
    remove_channel,
    replace_secret,
    send_test,
    switch_channel,
)
from crawler.notices.webhook_secrets import NewSecret, make_secret
from crawler.reports.receipt import channel_shown
from crawler.reports.text import EVENTS
from crawler.web.crawl.crawl_summary import DELIVERIES, DELIVERY_TONES
from crawler.web.decorators import page, page_to_post, page_to_read, person
from crawler.web.forms.channel_form import ChannelForm


@page_to_read
def channel_list(request: HttpRequest) -> HttpResponse:
    """The channels, oldest first, and the form that adds one."""
    return _list_page(request, ChannelForm(), status=200)


@sensitive_post_parameters("address")
@page_to_post
def channel_add(request: HttpRequest) -> HttpResponse:
    """Add a channel, or show the form with its errors."""
    form = ChannelForm(request.POST)
    if form.is_valid():
        try:
            channel, secret = add_channel(person(request), form.wanted())
        except BadInput as error:
            form.refuse(error)
        else:
            return _shown_once(request, channel, secret, "Added. Press Test to see whether it works.")
    return _list_page(request, form, status=400)


@never_cache
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("address")
@page
def channel_change(request: HttpRequest, channel_id: UUID) -> HttpResponse:
    """Change a channel."""
    channel = _mine(request, channel_id)
    if request.method != "POST":
        return _change_page(request, channel, ChannelForm(channel=channel), status=200)
    form = ChannelForm(request.POST, channel=channel)
    if form.is_valid():
        try:
            secret = change_channel(channel, form.wanted())
        except BadInput as error:
            form.refuse(error)
        else:
            return _shown_once(request, channel, secret, "Changed.")
    return _change_page(request, channel, form, status=400)


@page_to_post
def channel_switch(request: HttpRequest, channel_id: UUID) -> HttpResponse:
    """Disable the channel (`on` is missing), or enable it."""
    channel, on = _mine(request, channel_id), "on" in request.POST
    switch_channel(channel.id, on=on)
    messages.success(request, "It gets notices again." if on else "Switched off: it gets no notices.")
    return redirect("channel-list")


@page_to_post
def channel_remove(request: HttpRequest, channel_id: UUID) -> HttpResponse:
    """Remove the channel. Not an error if it does not exist any more."""
    channel = own_channels(request.user).filter(pk=channel_id).first()
    if channel is not None:
        remove_channel(channel)
    messages.success(request, "Removed.")
    return redirect("channel-list")


@page_to_post
def channel_test(request: HttpRequest, channel_id: UUID) -> HttpResponse:
    """Send a test notice and show the result."""
    channel = _mine(request, channel_id)
    try:
        with slow_call(person(request).pk):
            tried = send_test(channel)
    except TooBusy as error:
        messages.warning(request, str(error))
        response = _list_page(request, ChannelForm(), status=429)
        response["Retry-After"] = str(error.retry_after)
        return response
    messages.add_message(request, messages.SUCCESS if tried.is_so else messages.WARNING, tried.line)
    return redirect("channel-list")


@page_to_post
def channel_secret(request: HttpRequest, channel_id: UUID) -> HttpResponse:
    """Replace the secret of a webhook, and show the new one this once."""
    channel = _mine(request, channel_id)
    try:
        made = replace_secret(channel)
    except BadInput as error:
        messages.warning(request, error.message)
        return redirect("channel-list")
    return _secret_page(request, _name_of(channel), made)


@sensitive_post_parameters("address")
@page_to_post
def webhook_secret(request: HttpRequest) -> HttpResponse:
    """Make or replace the secret of a webhook that is named in a crawl's options, and show it this once."""
    address = request.POST.get("address", "").strip()
    try:
        made = make_secret(person(request).pk, address)
    except BadInput as error:
        return _list_page(request, ChannelForm(), status=400, secret_error=error.message)
    return _secret_page(request, masked(webhook.KIND.name, address), made)


def _shown_once(request: HttpRequest, channel: Channel, secret: str | None, done: str) -> HttpResponse:
    """The list; with the secret if one was made, in this response alone."""
    messages.success(request, done)
    if secret is None:
        return redirect("channel-list")
    return _secret_page(request, _name_of(channel), NewSecret(secret, None))


def _secret_page(request: HttpRequest, name: str, made: NewSecret) -> HttpResponse:
    return _list_page(request, ChannelForm(), status=200, secret=made, secret_of=name)


def _name_of(channel: Channel) -> str:
    return channel.name or channel_shown(channel)


def _mine(request: HttpRequest, channel_id: UUID) -> Channel:
    return get_object_or_404(own_channels(request.user), pk=channel_id)


def _list_page(request: HttpRequest, form: ChannelForm, *, status: int, **more: Any) -> HttpResponse:
    rows = [_row(channel) for channel in own_channels(request.user).order_by("created_at")]
    return render(request, "crawler/channels.html", {"form": form, "rows": rows, **more}, status=status)


def _change_page(request: HttpRequest, channel: Channel, form: ChannelForm, *, status: int) -> HttpResponse:
    return render(request, "crawler/channel.html", {"form": form, "row": _row(channel)}, status=status)


def _row(channel: Channel) -> dict[str, Any]:
    last = Delivery.objects.filter(channel=channel).select_related("notice").order_by("-created_at").first()
    return {
        "channel": channel,
        "is_signed": channel.transport == webhook.KIND.name,
        "transport": CHANNELS[channel.transport].label,
        "address": channel_shown(channel),
        "events": ", ".join(EVENTS[event] for event in OF_A_CRAWL if event in channel.events),
        "last": last,
        "last_state": DELIVERIES[last.state] if last else "",
        "tone": DELIVERY_TONES[last.state] if last else "",
    }
