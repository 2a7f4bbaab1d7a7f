"""When a request is complete, and how long a server waits for the rest."""

import pytest

from crawler.core.access.request_reading import (
    BODY_TIMEOUT_S,
    MAX_HEAD_BYTES,
    MIN_UPLOAD_RATE,
    Progress,
    path_of,
    progress_of,
    upload_seconds_left,
)

HEAD = b"POST /x HTTP/1.1\r\nHost: a\r\n"


@pytest.mark.parametrize(
    ("received", "progress"),
    [
        (b"", Progress.HEAD),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", Progress.HEAD),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r", Progress.HEAD),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", Progress.COMPLETE),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET", Progress.COMPLETE),
        (HEAD + b"Content-Length: 3\r\n\r\n", Progress.BODY),
        (HEAD + b"content-length:3\r\n\r\nab", Progress.BODY),
        (HEAD + b"CONTENT-LENGTH:  3 \r\n\r\nabc", Progress.COMPLETE),
        (HEAD + b"Content-Length: 65536\r\n\r\n", Progress.BODY),
        (HEAD + b"Content-Length: 65537\r\n\r\n", Progress.UPLOAD),
        (HEAD + b"X-Content-Length: 65537\r\n\r\n", Progress.COMPLETE),
        (HEAD + b"Content-Length: -1\r\n\r\n", Progress.COMPLETE),  # the parser refuses it
        (HEAD + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n", Progress.COMPLETE),  # the same
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", Progress.UPLOAD),
        (HEAD + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n", Progress.UPLOAD),  # it waits for a response
        (b"a" * (MAX_HEAD_BYTES + 1), Progress.TOO_LARGE),
        (b"a" * (MAX_HEAD_BYTES + 1) + b"\r\n\r\n", Progress.TOO_LARGE),
    ],
)
def test_how_much_of_a_request_has_arrived(received: bytes, progress: Progress) -> None:
    assert progress_of(received) is progress


@pytest.mark.parametrize(
    ("received", "path"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", b"/healthz"),
        (b"GET /healthz?a=b HTTP/1.1\r\n\r\n", b"/healthz"),
        (b"GET /a", b"/a"),
        (b"nonsense", b""),
        (b"", b""),
    ],
)
def test_the_path_that_is_requested(received: bytes, path: bytes) -> None:
    assert path_of(received) == path


def test_an_upload_has_time_for_each_byte_that_arrived() -> None:
    assert upload_seconds_left(0, 0.0) == BODY_TIMEOUT_S
    assert upload_seconds_left(MIN_UPLOAD_RATE, 0.0) == BODY_TIMEOUT_S + 1
    assert upload_seconds_left(20, BODY_TIMEOUT_S + 1) < 0
