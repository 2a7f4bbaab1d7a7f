"""Sends one message to one address: a POST request through the guard, or an e-mail."""

from __future__ import annotations

import json
import re
import smtplib
from collections.abc import Callable, Mapping, Sequence
from email.utils import parseaddr
from typing import Protocol

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage

from crawler import clock, conf
from crawler.core.channels.catalogue import CHANNELS
from crawler.core.channels.kind import ChannelKind, Message, SigningContext
from crawler.core.errors import TransportError
from crawler.core.pages.outcomes import Outcome
from crawler.core.text.sanitize import lines, one_line
from crawler.core.urls.addresses import is_public
from crawler.core.urls.normalise import host_and_port
from crawler.http.client import HttpFetcher, operators_gateway
from crawler.http.connector import Gateway
from crawler.http.errors import FetchError
from crawler.http.fetcher import Limits
from crawler.http.guard import FOR_NOTICES, Guard, guard_of

MAX_SUBJECT = 200  # characters of a mail's subject
_RETRY_STATUSES = frozenset({408, 425, 429})  # the 4xx that mean "not now"
_LOGIN_FAILURES = (530, 534, 535)  # of the mail server; an administrator can correct the login


class Response(Protocol):
    """A receiver's response."""

    @property
    def outcome(self) -> Outcome: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def error(self) -> str: ...


class Poster(Protocol):
    """Posts through the guard, within limits, and follows no redirects, as `HttpFetcher` does."""

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Response: ...


def send(
    message: Message,
    transport: str,
    address: str,
    private_hosts: Sequence[str],
    limits: Limits | None = None,
    own_secrets: Sequence[str] = (),
) -> str:
    """Send a message; returns the receiver's response in one line, or raises TransportError."""
    kind = CHANNELS.get(transport)
    if kind is None:
        raise TransportError(f"unknown kind of channel: {transport!r}", permanent=True)
    if not kind.is_web:
        return send_mail(message, address)
    guard = guard_of(private_hosts)
    with HttpFetcher(guard, conf.user_agent(), limits, gateway=_gateway_to(address, guard)) as poster:
        return post(kind, message, address, secret=conf.webhook_secret(), own_secrets=own_secrets, poster=poster)


def post(
    kind: ChannelKind,
    message: Message,
    url: str,
    *,
    secret: str = "",
    own_secrets: Sequence[str] = (),
    poster: Poster,
    now: Callable[[], float] = clock.epoch_seconds,
) -> str:
    """Post a message; returns the receiver's response in one line, or raises TransportError."""
    body = json.dumps(kind.content(message)).encode()
    headers = {
        "Content-Type": "application/json",
        **kind.headers(message, body, SigningContext(secret, now(), own_secrets)),
    }
    return _judge(poster.post(url, body, headers))


def _judge(response: Response) -> str:
    status = response.http_status
    if status is not None and 200 <= status <= 299:  # accepted, even if its body could not be read
        return f"the receiver returned {status}"
    if status is None:
        is_private = response.outcome is Outcome.PRIVATE_ADDRESS
        how = FOR_NOTICES if is_private and "CRAWLER_PRIVATE_HOSTS" not in response.error else ""
        raise TransportError(f"{response.error}{how}", permanent=is_private)
    redirected = "; redirects are not followed" if 300 <= status <= 399 else ""
    is_refused = 400 <= status <= 499 and status not in _RETRY_STATUSES
    raise TransportError(f"the receiver returned {status}{redirected}", permanent=is_refused)


def _gateway_to(address: str, guard: Guard) -> Gateway | None:
    """The operator's proxy, except for a receiver in this network: the proxy may not reach it, or resolve its name to
    another host. The guard checks the address again when it connects."""
    gateway = operators_gateway()
    if gateway is None:
        return None
    try:
        endpoints = guard.resolve(*host_and_port(address))
    except (FetchError, ValueError):
        return gateway  # the request will report the error
    return gateway if all(is_public(str(endpoint.sockaddr[0])) for endpoint in endpoints) else None


def send_mail(message: Message, address: str) -> str:
    """Hand the message to the mail server. A duplicate has the same Message-ID, by which mail programs drop it."""
    mail = EmailMessage(
        subject=_subject_line(message.subject),
        body=lines(message.text),
        to=[address],
        headers={
            "Message-ID": message_id(message.id),
            "Auto-Submitted": "auto-generated",  # RFC 3834: no out-of-office replies
        },
    )
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        code, _ = next(iter(error.recipients.values()), (0, b""))
        raise TransportError(
            f"the mail server does not accept mail for {address} ({code})", _is_permanent(code)
        ) from error
    except smtplib.SMTPResponseException as error:
        raise TransportError(f"the mail server refused ({_reply_of(error)})", _is_permanent(error.smtp_code)) from error
    except (smtplib.SMTPException, OSError) as error:
        raise TransportError(f"the mail server cannot be reached ({error})", permanent=False) from error
    except (BadHeaderError, UnicodeError) as error:
        raise TransportError(f"{address!r} is not an e-mail address", permanent=True) from error
    return "the mail server accepted it"


def _subject_line(subject: str) -> str:
    """A line break would begin another header, and mail servers refuse a subject as long as a URL can be."""
    line = one_line(" ".join(subject.split()))
    return line if len(line) <= MAX_SUBJECT else f"{line[: MAX_SUBJECT - 1]}…"


def message_id(delivery: str) -> str:
    """A Message-ID that is the same for each attempt of this delivery (RFC 5322, 3.6.4)."""
    _, sender = parseaddr(settings.DEFAULT_FROM_EMAIL)
    domain = sender.rpartition("@")[2] or "localhost"
    return f"<{re.sub(r'[^A-Za-z0-9.-]', '-', delivery)}@{domain}>"


def _is_permanent(code: int) -> bool:
    """RFC 5321, 4.2.1: 5yz is a permanent refusal."""
    return 500 <= code <= 599 and code not in _LOGIN_FAILURES


def _reply_of(error: smtplib.SMTPResponseException) -> str:
    reply = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
    return " ".join(f"{error.smtp_code} {reply}".split())
