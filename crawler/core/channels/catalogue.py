"""The kinds of notice channels, and the receivers of notices: reading, checking and masking their addresses."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from crawler.core.channels import discord, email, slack, webhook
from crawler.core.channels.kind import ChannelKind
from crawler.core.errors import BadInput

KINDS: tuple[ChannelKind, ...] = (
    email.KIND,
    webhook.KIND,
    slack.KIND,  # before Discord, whose hosts have addresses for Slack's format
    discord.KIND,
)
"""In the order in which users see them."""

CHANNELS = {kind.name: kind for kind in KINDS}
"""Each kind by its transport: the name in tables and in JSON."""

SEALED = "sealed:"
"""What an encrypted address begins with, see `crawler.encryption`."""


def listed(words: list[str], last: str = "or") -> str:
    """ "Slack", "Slack or Discord", "e-mail, webhook, Slack or Discord"."""
    *others, final = words
    return f"{', '.join(others)} {last} {final}" if others else final


SERVICES = [kind.label for kind in KINDS if kind.is_secret]
"""Whose addresses are secrets."""

ADDRESS_HELP = f"An e-mail address, the URL of your webhook, or the URL that {listed(SERVICES)} created for you."


class Receiver(msgspec.Struct, frozen=True):
    """One place a notice is sent to."""

    transport: str
    address: str  # in plain text


def receiver_of(field: str, typed: str) -> Receiver:
    """The receiver a user typed, such as "me@example.com" or a URL. A service is recognised by its host; a compatible
    server is named with a prefix such as "slack:". BadInput for anything else."""
    prefix, colon, rest = typed.partition(":")
    if colon and prefix in CHANNELS and CHANNELS[prefix].takes_prefix:
        return Receiver(prefix, rest)
    if "://" in typed:
        return Receiver((_recognised(typed) or webhook.KIND).name, typed)
    if "@" in typed:
        return Receiver(email.KIND.name, typed)
    raise BadInput(field, f"{typed!r} is neither an e-mail address nor a web address (https://...).")


def check_address(field: str, transport: str, address: str) -> None:
    """BadInput if notices cannot be sent there. No message repeats an address that is a secret."""
    kind = CHANNELS[transport]
    if kind.is_web and address.startswith(SEALED):
        return
    kind.check(field, address)
    if kind.takes_any_url and (other := _recognised(address)) is not None:
        name = other.label
        raise BadInput(field, f"This is an address of {name}, which does not accept these webhooks; add it as {name}.")


def is_encrypted(transport: str) -> bool:
    """Whether its addresses are stored encrypted."""
    return _kind_of(transport).is_web


def is_secret(transport: str, address: str) -> bool:
    """Whether an address, in plain text or as stored, is never shown in full."""
    kind = _kind_of(transport)
    return kind.is_secret or address.startswith(SEALED) or kind.hides(address)


def masked(transport: str, address: str) -> str:
    """Enough to recognise it: "m…@example.com", "https://hooks.slack.com/…"."""
    return _kind_of(transport).mask(address)


def shown(transport: str, address: str, *, in_full: bool) -> str:
    """An address for users; a secret one is always masked."""
    return address if in_full and not is_secret(transport, address) else masked(transport, address)


def _kind_of(transport: str) -> ChannelKind:
    """A stored address of a kind that no longer exists is treated as a URL."""
    return CHANNELS.get(transport, webhook.KIND)


def _recognised(url: str) -> ChannelKind | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return next((kind for kind in KINDS if kind.recognises(parts)), None)
