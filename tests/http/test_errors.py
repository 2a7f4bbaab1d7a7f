"""The outcome and the text of each exception."""

import errno
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages.outcomes import Outcome
from crawler.http.errors import (
    MAX_ERROR_LENGTH,
    AddressRefused,
    ConnectionClosed,
    HeadTooLarge,
    InvalidResponse,
    explain,
    one_line,
    outcome_of,
)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), Outcome.CONNECT),
        (OSError(errno.EHOSTUNREACH, "No route to host"), Outcome.CONNECT),
        (ConnectionClosed("closed"), Outcome.CONNECT),
        (InvalidResponse("x"), Outcome.MALFORMED),
        (HeadTooLarge("header line"), Outcome.TOO_LARGE),
        (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), Outcome.TIMEOUT),
        (ssl.SSLError(1, "bad"), Outcome.TLS),
        (UnicodeError("no"), Outcome.MALFORMED),
        (AddressRefused("no"), Outcome.PRIVATE_ADDRESS),
    ],
)
def test_each_has_its_outcome(error: Exception, outcome: Outcome) -> None:
    assert outcome_of(error) is outcome
    assert explain(error)


def test_a_person_is_told_what_the_system_said() -> None:
    error = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
    assert explain(error) == "the connection broke: Connection reset by peer"


@given(st.text())
def test_an_explanation_is_one_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= MAX_ERROR_LENGTH


def test_marks_that_turn_the_text_around_are_dropped() -> None:
    assert one_line("a\x1b[31m\r\nb\u202ec") == "a [31m b c"
