"""The entry of a notice channel, and the message it sends."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One notice for one receiver. A duplicate has the same id."""

    id: str  # of the delivery
    event: str  # such as "crawl.finished"
    crawl: str  # UUID
    receipt: Mapping[str, Any]  # as in JSON; empty for a page notice
    subject: str  # one line for a person
    text: str  # the notice for a person
    notice: str = ""  # its id: the same for all receivers, and when it is sent again
    round: int = 1  # of the crawl
    number: int = 0  # among the notices of this event in this round
    at: str = ""  # when it happened, ISO 8601 in UTC
    pages: Sequence[Mapping[str, Any]] | None = None  # of a page notice, in place of a receipt
    sentence: str = ""  # what happened, for channels with a layout of their own
    figures: Sequence[tuple[str, str]] = msgspec.field(default=())  # names and numbers for such a channel
    link: str = ""  # to the crawl's page


class SigningContext(msgspec.Struct, frozen=True):
    """What a request can be signed with."""

    secret: str  # of the installation; "" = none
    now: float  # seconds since the epoch
    own_secrets: Sequence[str] = ()  # of the receiver, the newest first; two during a rotation


Headers = Callable[[Message, bytes, SigningContext], Mapping[str, str]]
"""Further headers of a request with this body."""


def mask_url(address: str) -> str:
    """Scheme and host: "https://hooks.slack.com/…"."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "…"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/…"


class ChannelKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of notice channel: its content is sent as JSON in a POST request, or the message by e-mail."""

    name: str  # in tables, in JSON, and before an address: "slack:https://..."
    noun: str  # as a user reads it in a sentence
    option: str  # the crawl option with its addresses
    field_label: str  # of that option on the form
    help: str  # of that option, on the form and in the API
    example: str  # an address
    placeholder: str = ""  # of the option on the form; "" = the example
    check: Callable[[str, str], None]  # (field, address): BadInput if notices cannot be sent there
    mask: Callable[[str], str] = mask_url  # enough of an address to recognise it
    is_secret: bool = False  # anyone who knows an address can write there: it is never shown in full
    hides: Callable[[str], bool] = lambda address: False  # whether this address is not shown in full either
    recognises: Callable[[SplitResult], bool] = lambda url: False  # whether a URL belongs to this kind
    takes_any_url: bool = False  # the kind of every URL that no other kind recognises
    takes_pages: bool = False  # it can get page notices
    is_web: bool = True  # its addresses are URLs, and stored encrypted: many services put a token in the path
    content: Callable[[Message], dict[str, Any]] = lambda message: {}
    headers: Headers = lambda message, body, signing: {}

    @property
    def label(self) -> str:
        return self.noun[0].upper() + self.noun[1:]

    @property
    def takes_prefix(self) -> bool:
        """Whether "name:" before a URL selects it, for a compatible server on another host."""
        return self.is_web and not self.takes_any_url


_URL_WITH_PATH = re.compile(r"https?://[^/\s]+/\S+")


def check_service_url(label: str, example: str) -> Callable[[str, str], None]:
    """The check of a URL that a service issued. Its message does not repeat the address, which is a secret."""

    def check(field: str, address: str) -> None:
        if not (_URL_WITH_PATH.fullmatch(address) and normalise(address) is not None):
            raise BadInput(field, f"This is not a {label} address; enter one such as {example}.")

    return check
