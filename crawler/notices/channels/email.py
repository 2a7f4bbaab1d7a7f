"""Sends a message by e-mail, through whatever Django is told to send mail with."""

from __future__ import annotations

import re
import smtplib
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage

from crawler.core.text.sanitize import lines, one_line
from crawler.notices.channels.transport import Message, TransportError

SUBJECT = 200  # characters


def send(message: Message, address: str) -> str:
    """Hand the message to the mail server. A second copy has the same Message-ID, which mail programs drop."""
    mail = EmailMessage(
        subject=_one_line(message.subject),
        body=lines(message.text),
        to=[address],
        headers={
            "Message-ID": message_id(message.id),
            "Auto-Submitted": "auto-generated",
        },  # RFC 3834: no out-of-office
    )
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        code, _ = next(iter(error.recipients.values()), (0, b""))
        raise TransportError(f"the mail server does not take mail for {address} ({code})", _is_final(code)) from error
    except smtplib.SMTPResponseException as error:
        raise TransportError(f"the mail server refused ({_told(error)})", _is_final(error.smtp_code)) from error
    except (smtplib.SMTPException, OSError) as error:
        raise TransportError(f"the mail server cannot be reached ({error})", permanent=False) from error
    except (BadHeaderError, UnicodeError) as error:
        raise TransportError(f"{address!r} is not an e-mail address", permanent=True) from error
    return "the mail server took it"


def _one_line(subject: str) -> str:
    """A line end in it would begin a header of its own; and a subject of 4,000 characters, as a URL has, is refused."""
    line = one_line(" ".join(subject.split()))
    return line if len(line) <= SUBJECT else f"{line[: SUBJECT - 1]}…"


def message_id(delivery: str) -> str:
    """A Message-ID that is the same each time this delivery is tried (RFC 5322, 3.6.4)."""
    _, sender = parseaddr(settings.DEFAULT_FROM_EMAIL)
    domain = sender.rpartition("@")[2] or "localhost"
    return f"<{re.sub(r'[^A-Za-z0-9.-]', '-', delivery)}@{domain}>"


def _is_final(code: int) -> bool:
    """RFC 5321, 4.2.1: 5yz is a permanent refusal. Not so where logging in failed: a person can mend that."""
    return 500 <= code <= 599 and code not in (530, 534, 535)


def _told(error: smtplib.SMTPResponseException) -> str:
    told = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
    return " ".join(f"{error.smtp_code} {told}".split())
