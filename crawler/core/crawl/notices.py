"""What can happen to a crawl that somebody may want to be told of."""

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
    """The value is what a notice, a webhook's header and the options of a crawl say."""

    STARTED = "crawl.started"  # it runs: for the first time, or again because dead letters or traps opened it
    PAGE = "crawl.page"  # pages were asked for and have their outcome, many in one notice
    PAUSED = "crawl.paused"  # a person, or a command that could wait no longer, paused it
    FINISHED = "crawl.finished"  # no page is open any more
    FAILED = "crawl.failed"  # the same, but no start page answered well, so it could not do what was asked
    CANCELLED = "crawl.cancelled"  # a person stopped it
    TEST = "crawl.test"  # nothing happened: somebody pressed the button that tries a channel


ENDS = (Event.FINISHED, Event.FAILED, Event.CANCELLED)
"""Exactly one of these ends each round of a crawl."""

USUAL = tuple(event.value for event in ENDS)
"""What people are told of unless they choose otherwise."""

OF_A_CRAWL = (Event.STARTED, Event.PAUSED, *ENDS)
"""What a channel of an account may be told of. Pages have to be asked for crawl by crawl."""

OF_PAGES = (*OF_A_CRAWL, Event.PAGE)
"""What the receivers of one crawl may be told of."""


def chosen_events(field: str, typed: Iterable[str]) -> tuple[str, ...]:
    """The events that were typed, with or without "crawl.", each once; BadInput for one that there is not."""
    named = (name if name.startswith(PREFIX) else PREFIX + name for name in map(str.strip, typed))
    return tuple(dict.fromkeys(_checked(field, name) for name in named))


def _checked(field: str, name: str) -> str:
    if name in OF_PAGES:
        return name
    known = ", ".join(event.removeprefix(PREFIX) for event in OF_PAGES)
    raise BadInput(field, f"Nobody can be told of {name.removeprefix(PREFIX)!r}; choose among {known}.")


# Whom a notice goes to: a transport and an address, as people type it, and as it is shown to them.


class Means(StrEnum):
    """The transports there are."""

    EMAIL = "email"
    WEBHOOK = "webhook"
    SLACK = "slack"
    DISCORD = "discord"


SECRET = frozenset({Means.SLACK, Means.DISCORD})
"""Whoever knows such an address can write there: it is shown to nobody in full. Nor is that of a webhook with a
password or a token in it, see `is_secret`."""

SEALED = "sealed:"
"""What an encrypted address begins with, see `crawler.encryption`."""

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
    """One place a notice is to go to."""

    means: Means
    address: str  # in plain


def receiver_of(field: str, typed: str) -> Receiver:
    """Who is meant by one line, such as "me@example.com" or a web address. Slack and Discord are known by their host;
    a server of your own that speaks as they do is named with "slack:" or "discord:" before the address. BadInput when
    nobody is."""
    prefix, colon, rest = typed.partition(":")
    if colon and prefix in SECRET:
        return Receiver(Means(prefix), rest)
    if "://" in typed:
        return Receiver(_by_host(typed) or Means.WEBHOOK, typed)
    if "@" in typed:
        return Receiver(Means.EMAIL, typed)
    raise BadInput(field, f"{typed!r} is neither an e-mail address nor a web address (https://...).")


def check_address(field: str, means: Means, address: str) -> None:
    """BadInput when notices cannot go there. No message repeats an address that is a secret."""
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
    """Whether its addresses are stored encrypted: every web address is, for many services put a token in the path."""
    return means != Means.EMAIL


def is_secret(means: str, address: str) -> bool:
    """Whether an address, in plain or as it is stored, is shown to nobody in full. Of a webhook's it is where there is
    a user, a password or a query in it."""
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
    """Enough to recognise it by: "m…@example.com", "https://hooks.slack.com/…"."""
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
    """An address for people; a secret one is masked for everybody."""
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
