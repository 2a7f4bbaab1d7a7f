"""Mail as it leaves, and what a mail server's refusal means."""

import smtplib
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend

from crawler.core.channels.kind import Message
from crawler.core.errors import TransportError
from crawler.notices import send
from crawler.notices.send import send_mail

MESSAGE = Message(
    id="0b9a", event="crawl.finished", crawl="c1", receipt={"fetched": 3}, subject="Crawl finished", text="3 pages\n"
)


class Refusing(BaseEmailBackend):
    """A mail server that raises what a test puts here."""

    error: Exception

    def send_messages(self, messages: Any) -> int:
        raise self.error


@pytest.fixture
def refuse(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.EMAIL_BACKEND = f"{__name__}.Refusing"
    return lambda error: monkeypatch.setattr(Refusing, "error", error, raising=False)


def test_it_sends_what_a_person_reads() -> None:
    send_mail(MESSAGE, "you@example.com")
    [sent] = mail.outbox
    assert (sent.to, sent.subject, sent.body) == (["you@example.com"], "Crawl finished", "3 pages\n")


def test_a_second_copy_has_the_same_message_id(settings: Any) -> None:
    settings.DEFAULT_FROM_EMAIL = "Crawler <crawler@example.com>"
    send_mail(MESSAGE, "you@example.com")
    send_mail(MESSAGE, "you@example.com")
    assert [sent.message()["Message-ID"] for sent in mail.outbox] == ["<0b9a@example.com>"] * 2


def test_no_machine_is_asked_to_answer() -> None:
    send_mail(MESSAGE, "you@example.com")
    assert mail.outbox[0].message()["Auto-Submitted"] == "auto-generated"


def test_a_subject_cannot_begin_another_header() -> None:
    message = Message(id="a\r\nb", event="e", crawl="c", receipt={}, subject="Done\r\nBcc: them@example.com", text="")
    send_mail(message, "you@example.com")
    sent = mail.outbox[0].message()
    assert sent["Subject"] == "Done Bcc: them@example.com"
    assert sent["Bcc"] is None
    assert sent["Message-ID"].startswith("<a--b@")


def test_a_subject_is_no_longer_than_people_read() -> None:
    send_mail(Message(id="a", event="e", crawl="c", receipt={}, subject=f"Crawl: {'x' * 5000}", text=""), "you@a.test")
    assert len(mail.outbox[0].subject) == send.MAX_SUBJECT


def test_an_address_cannot_begin_another_header() -> None:
    with pytest.raises(TransportError) as caught:
        send_mail(MESSAGE, "you@example.com\r\nBcc: them@example.com")
    assert caught.value.permanent
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("error", "permanent"),
    [
        (smtplib.SMTPRecipientsRefused({"you@example.com": (550, b"no such user")}), True),
        (smtplib.SMTPRecipientsRefused({"you@example.com": (450, b"greylisted")}), False),
        (smtplib.SMTPSenderRefused(553, b"not you", "crawler@localhost"), True),
        (smtplib.SMTPAuthenticationError(535, b"wrong password"), False),  # a person can mend the setting
        (smtplib.SMTPServerDisconnected("gone"), False),
        (TimeoutError("timed out"), False),
    ],
)
def test_a_refusal_says_whether_trying_again_helps(refuse: Any, error: Exception, permanent: bool) -> None:
    refuse(error)
    with pytest.raises(TransportError) as caught:
        send_mail(MESSAGE, "you@example.com")
    assert caught.value.permanent is permanent
    assert "\n" not in str(caught.value)
