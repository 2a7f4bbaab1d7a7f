"""What an exception stands for, through the wrappers of the libraries, and what a person is told."""

from __future__ import annotations

import errno
import http.client
import ssl

import pytest
import requests
import urllib3.exceptions
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.outcomes import Outcome
from crawler.fetching.trouble import MAX_ERROR_LENGTH, AddressRefused, explain, one_line, outcome_of


def aborted(inner: Exception) -> Exception:
    """As requests hands on what urllib3 wrapped."""
    return requests.ConnectionError(urllib3.exceptions.ProtocolError("Connection aborted.", inner))


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (aborted(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")), Outcome.CONNECT),
        (aborted(OSError(errno.EHOSTUNREACH, "No route to host")), Outcome.CONNECT),
        (aborted(http.client.RemoteDisconnected("closed")), Outcome.CONNECT),
        (aborted(http.client.BadStatusLine("x")), Outcome.MALFORMED),
        (aborted(http.client.LineTooLong("header line")), Outcome.TOO_LARGE),
        (aborted(http.client.HTTPException("got more than 100 headers")), Outcome.TOO_LARGE),
        (aborted(http.client.IncompleteRead(b"")), Outcome.MALFORMED),
        (aborted(TimeoutError(errno.ETIMEDOUT, "Connection timed out")), Outcome.TIMEOUT),
        (requests.exceptions.SSLError(urllib3.exceptions.SSLError(ssl.SSLError(1, "bad"))), Outcome.TLS),
        (urllib3.exceptions.ProtocolError("Response ended prematurely"), Outcome.MALFORMED),
        (requests.exceptions.InvalidURL("no host"), Outcome.MALFORMED),
        (UnicodeError("no"), Outcome.MALFORMED),
        (aborted(AddressRefused("no")), Outcome.PRIVATE_ADDRESS),
    ],
)
def test_the_innermost_error_decides(error: Exception, outcome: Outcome) -> None:
    assert outcome_of(error) is outcome
    assert explain(error)


def test_a_person_is_told_what_the_system_said() -> None:
    error = aborted(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))
    assert explain(error) == "the connection broke: Connection reset by peer"


@given(st.text())
def test_an_explanation_is_one_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= MAX_ERROR_LENGTH


def test_marks_that_turn_the_text_around_are_dropped() -> None:
    assert one_line("a\x1b[31m\r\nb\u202ec") == "a [31m b c"
