"""The notice channels of an account: add, change, remove and test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from crawler import clock, conf, encryption
from crawler.accounts import audit
from crawler.accounts.permissions import installation_hosts
from crawler.core.channels import webhook
from crawler.core.channels.catalogue import CHANNELS, SEALED, check_address, is_encrypted, is_secret
from crawler.core.channels.kind import Message
from crawler.core.errors import BadInput, SealBroken, TransportError
from crawler.core.options.events import OF_A_CRAWL, Event, chosen_events
from crawler.http.fetcher import Limits
from crawler.http.guard import FOR_NOTICES, check_web_address, guard_of
from crawler.models import Channel, Delivery
from crawler.notices.delivery import UNREADABLE_ADDRESS
from crawler.notices.send import send
from crawler.notices.webhook_secrets import NewSecret, has_secret, make_secret, secrets_for
from crawler.reports.text import SENTENCES, Reply

MAX_CHANNELS = 20  # channels of one account
NAME_LENGTH = 80
TEST_INTERVAL_S = 10.0  # seconds between two tests of one channel
TEST_LIMITS = Limits(connect_seconds=5.0, read_seconds=10.0, total_seconds=10.0)  # the user waits for the page
REMOVED = "the channel was removed"


@dataclass(frozen=True, kw_only=True)
class ChannelValues:
    """A user's input for a channel."""

    name: str
    transport: str
    address: str  # "" = as it is
    events: tuple[str, ...]


def add_channel(owner: User, wanted: ChannelValues, channel_id: UUID | None = None) -> tuple[Channel, str | None]:
    """Add a channel; BadInput ("address", "events") if invalid. `channel_id` as for `start_crawl`. With the secret that
    was made for a webhook; None if its address has one already."""
    if Channel.objects.filter(owner=owner).count() >= MAX_CHANNELS:
        raise BadInput("address", f"An account can have at most {MAX_CHANNELS} channels; remove one.")
    channel = Channel(id=channel_id or uuid4(), owner=owner)
    _fill(channel, wanted)
    with transaction.atomic():
        channel.save(force_insert=True)
        audit.note("channel.added", channel, after=_facts_of(channel))
        return channel, _first_secret(channel)


def change_channel(channel: Channel, wanted: ChannelValues) -> str | None:
    """Change a channel; BadInput as above. Pending deliveries keep their address. Returns the secret that was made, if
    it is a webhook at another address now."""
    before, address = _facts_of(channel), channel.address
    _fill(channel, wanted)
    after = _facts_of(channel) | ({"address": "another"} if channel.address != address else {})
    with transaction.atomic():
        channel.save(update_fields=["name", "transport", "address", "events"])
        audit.note("channel.changed", channel, before=before, after=after)
        return _first_secret(channel)


def replace_secret(channel: Channel) -> NewSecret:
    """Replace the secret of a webhook; BadInput ("address") for a channel that is none."""
    if channel.transport != webhook.KIND.name:
        raise BadInput("address", "Only webhooks are signed; this channel has no secret.")
    try:
        return make_secret(channel.owner_id, encryption.opened_address(channel.address))
    except SealBroken:
        raise BadInput(
            "address", f"A secret cannot be created: {UNREADABLE_ADDRESS}. Enter the address again."
        ) from None


def _first_secret(channel: Channel) -> str | None:
    """The secret that is made for a webhook whose address has none yet."""
    address = encryption.opened_address(channel.address)
    if channel.transport != webhook.KIND.name or has_secret(channel.owner_id, address):
        return None
    return make_secret(channel.owner_id, address).secret


def switch_channel(channel_id: UUID, *, on: bool) -> bool:
    """Enable or disable a channel. True if this call changed it."""
    with transaction.atomic():
        if Channel.objects.filter(id=channel_id, enabled=not on).update(enabled=on) != 1:
            return False
        audit.note("channel.resumed" if on else "channel.paused", Channel.objects.get(id=channel_id))
    return True


def remove_channel(channel: Channel) -> None:
    """Delete a channel; its pending deliveries are given up."""
    with transaction.atomic():
        audit.note("channel.removed", channel, before=_facts_of(channel))
        pending = Delivery.objects.filter(channel=channel, state=Delivery.PENDING)
        pending.update(state=Delivery.GIVEN_UP, error=REMOVED)
        channel.delete()


def _facts_of(channel: Channel) -> dict[str, object]:
    """For the audit log: without the address, which may be secret."""
    return {"name": channel.name, "transport": channel.transport, "events": list(channel.events)}


def send_test(channel: Channel) -> Reply:
    """Send a test notice now; the reply says whether it was accepted."""
    now = clock.now()
    rested = Q(tested_at=None) | Q(tested_at__lte=now - timedelta(seconds=TEST_INTERVAL_S))
    if Channel.objects.filter(rested, id=channel.id).update(tested_at=now) != 1:
        return Reply("It was tested just now; wait ten seconds before the next test.", is_so=False)
    try:
        address = encryption.opened_address(channel.address)
        own_secrets = secrets_for(channel.transport, channel.owner_id, address)
        answer = send(_test_message(), channel.transport, address, installation_hosts(), TEST_LIMITS, own_secrets)
    except SealBroken:
        return Reply(f"The test could not be sent: {UNREADABLE_ADDRESS}. Enter it again.", is_so=False)
    except TransportError as error:
        return Reply(f"The test did not arrive: {error}.", is_so=False)
    return Reply(f"A test was sent: {answer}.", is_so=True)


def _fill(channel: Channel, wanted: ChannelValues) -> None:
    address = wanted.address or _kept(channel, wanted.transport)
    if address.startswith(SEALED) and wanted.address:
        raise BadInput("address", "This is not an address; enter it as you received it.")
    check_address("address", wanted.transport, address)
    events = _events(wanted.events)
    if wanted.address and CHANNELS[wanted.transport].is_web:
        hidden = is_secret(wanted.transport, address)
        check_web_address(guard_of(installation_hosts()), address, "address", is_secret=hidden, how=FOR_NOTICES)
    channel.name, channel.transport = " ".join(wanted.name.split())[:NAME_LENGTH], wanted.transport
    channel.address = encryption.seal_address(address) if is_encrypted(wanted.transport) else address
    channel.events = list(events)


def _kept(channel: Channel, transport: str) -> str:
    """The stored address, if the user typed none."""
    if not channel.address or channel.transport != transport:
        raise BadInput("address", f"Enter the address, such as {CHANNELS[transport].example}.")
    try:
        encryption.opened_address(channel.address)
    except SealBroken:
        raise BadInput("address", "The address was stored with another SECRET_KEY; enter it again.") from None
    return channel.address


def _events(typed: Iterable[str]) -> tuple[str, ...]:
    events = chosen_events("events", typed)
    if not events:
        raise BadInput("events", "Choose at least one event.")
    if Event.PAGE in events:
        raise BadInput("events", "Enable page notices for a crawl; channels do not have them.")
    return tuple(event.value for event in OF_A_CRAWL if event in events)


def _test_message() -> Message:
    return Message(
        id=str(uuid4()),
        event=Event.TEST,
        crawl="",
        receipt={},
        subject="Site Crawler: a test",
        text=f"{SENTENCES[Event.TEST]}\n\n{conf.base_url()}/\n",
        notice=str(uuid4()),
        at=clock.now().isoformat(timespec="milliseconds"),
        sentence=SENTENCES[Event.TEST],
    )
