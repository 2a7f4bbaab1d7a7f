"""The events of a crawl that notices report, and the addresses that receive them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise

PREFIX = "crawl."


class Event(StrEnum):
    """The value is that of notices, webhook headers and crawl options."""

    STARTED = "crawl.started"  # it runs: for the first time, or again because dead letters or traps were retried
    PAGE = "crawl.page"  # pages were requested and have their outcome, many in one notice
    PAUSED = "crawl.paused"  # a user paused it, or a command whose timeout passed
    FINISHED = "crawl.finished"  # no page is open any more
    FAILED = "crawl.failed"  # the same, but no start page gave a usable response
    CANCELLED = "crawl.cancelled"  # a user stopped it
    TEST = "crawl.test"  # a user tests a channel


ENDS = (Event.FINISHED, Event.FAILED, Event.CANCELLED)
"""Exactly one of these ends each round of a crawl."""

DEFAULT_EVENTS = tuple(event.value for event in ENDS)
"""The default events of a receiver."""

OF_A_CRAWL = (Event.STARTED, Event.PAUSED, *ENDS)
"""The events a channel of an account may receive. Page notices are enabled for each crawl."""

OF_PAGES = (*OF_A_CRAWL, Event.PAGE)
"""The events the receivers of one crawl may receive."""


def chosen_events(field: str, typed: Iterable[str]) -> tuple[str, ...]:
    """The events that the user typed, with or without "crawl.", each once; BadInput for an unknown one."""
    named = (name if name.startswith(PREFIX) else PREFIX + name for name in map(str.strip, typed))
    return tuple(dict.fromkeys(_checked(field, name) for name in named))


def _checked(field: str, name: str) -> str:
    if name in OF_PAGES:
        return name
    known = ", ".join(event.removeprefix(PREFIX) for event in OF_PAGES)
    raise BadInput(field, f"Nobody can be told of {name.removeprefix(PREFIX)!r}; choose among {known}.")


# Receivers: a transport and an address, as users type it, and as it is shown to them.


class Means(StrEnum):
    """The transports."""

    EMAIL = "email"
    WEBHOOK = "webhook"
    SLACK = "slack"
    DISCORD = "discord"


SECRET = frozenset({Means.SLACK, Means.DISCORD})
"""Knowing such an address is enough to post there, so it is never shown in full. The same holds for a webhook with a
password or a token in its address, see `is_secret`."""

SEALED = "sealed:"
"""Prefix of an encrypted address, see `crawler.encryption`."""

EXAMPLES = {
    Means.EMAIL: "me@example.com",
    Means.WEBHOOK: "https://example.com/hook",
    Means.SLACK: "https://hooks.slack.com/services/T000/B000/XXXX",
    Means.DISCORD: "https://discord.com/api/webhooks/1234/XXXX",
}

_EMAIL = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+")
_WEB = re.compile(r"https?://[^/\s]+")
_WEB_WITH_PATH = re.compile(r"https?://[^/\s]+/\S+")
_DISCORD_HOSTS = ("discord.com", "discordapp.com", "canary.discord.com", "ptb.discord.com")


@dataclass(frozen=True, slots=True)
class Receiver:
    """One receiver of notices."""

    means: Means
    address: str  # in plain text


def receiver_of(field: str, typed: str) -> Receiver:
    """The receiver that one line names, such as "me@example.com" or a URL; BadInput when it names none.

    Slack and Discord are recognised by their host; for another server with the same API the user puts "slack:" or
    "discord:" before the address.
    """
    prefix, colon, rest = typed.partition(":")
    if colon and prefix in SECRET:
        return Receiver(Means(prefix), rest)
    if "://" in typed:
        return Receiver(_by_host(typed) or Means.WEBHOOK, typed)
    if "@" in typed:
        return Receiver(Means.EMAIL, typed)
    raise BadInput(field, f"{typed!r} is neither an e-mail address nor a web address (https://...).")


def check_address(field: str, means: Means, address: str) -> None:
    """BadInput when notices cannot be sent there. No message repeats a secret address."""
    match means:
        case Means.EMAIL:
            if not _EMAIL.fullmatch(address):
                raise BadInput(field, f"{address!r} is not an e-mail address.")
        case Means.WEBHOOK:
            if address.startswith(SEALED):
                return
            if not _WEB.match(address) or normalise(address) is None:
                raise BadInput(field, f"{address!r} is not a web address; a webhook begins with https:// or http://.")
            if (other := _by_host(address)) is not None:
                name = other.capitalize()
                raise BadInput(field, f"This address is {name}'s, which takes no webhooks of ours; give it as {name}.")
        case Means.SLACK | Means.DISCORD:
            is_web = _WEB_WITH_PATH.fullmatch(address) and normalise(address) is not None
            if not (is_web or address.startswith(SEALED)):
                what = f"{means.capitalize()} gives a web address such as {EXAMPLES[means]}"
                raise BadInput(field, f"{what}; what was typed is none.")


def is_sealed(means: str) -> bool:
    """Whether its addresses are stored encrypted: URLs are, because many services put a token in the path."""
    return means != Means.EMAIL


def is_secret(means: str, address: str) -> bool:
    """Whether an address, in plain text or as it is stored, is never shown in full. A webhook's is secret if it
    contains a user, a password or a query."""
    if means in SECRET or address.startswith(SEALED):
        return True
    if means != Means.WEBHOOK:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return True
    return "@" in parts.netloc or bool(parts.query)


def masked(means: str, address: str) -> str:
    """An abbreviation that its owner recognises: "m…@example.com", "https://hooks.slack.com/…"."""
    if means == Means.EMAIL:
        name, _, host = address.rpartition("@")
        return f"{name[:1]}…@{host}"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "…"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/…"


def shown(means: str, address: str, *, in_full: bool) -> str:
    """An address for display; a secret one is always masked."""
    return address if in_full and not is_secret(means, address) else masked(means, address)


def _by_host(url: str) -> Means | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.hostname == "hooks.slack.com":
        return Means.SLACK
    if parts.hostname in _DISCORD_HOSTS and parts.path.startswith("/api/") and "/webhooks/" in parts.path:
        return Means.SLACK if parts.path.rstrip("/").endswith("/slack") else Means.DISCORD
    return None
