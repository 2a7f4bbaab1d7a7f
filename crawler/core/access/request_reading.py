"""What a web server does with the bytes of a request it has so far, and how long it waits for more.

A thread costs more than a connection. So one loop reads each head, and each small body; a thread gets a request that
is complete. A large body is read by the thread that stores it, at a minimum rate.
"""

from __future__ import annotations

import re
from enum import Enum, auto

HEAD_TIMEOUT_S = 10.0  # from the first to the last byte of a head
BODY_TIMEOUT_S = 20.0  # for a small body; for a large one, this and a second for each MIN_UPLOAD_RATE
MIN_UPLOAD_RATE = 16 * 1024  # bytes a second of a large body
MAX_HEAD_BYTES = 64 * 1024
MAX_SMALL_BODY_BYTES = 64 * 1024

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_READ_BY_A_THREAD = re.compile(rb"\r\n(?:transfer-encoding|expect):", re.IGNORECASE)


class Progress(Enum):
    """How much of a request has arrived."""

    HEAD = auto()  # the head is incomplete
    BODY = auto()  # the body is small and incomplete
    COMPLETE = auto()
    UPLOAD = auto()  # the head is complete; a thread has to read the body
    TOO_LARGE = auto()  # the head


def progress_of(received: bytes | bytearray) -> Progress:
    """Whether the head is well-formed is for the parser to say, which gets it once it is complete."""
    end = received.find(_END_OF_HEAD)
    if end > MAX_HEAD_BYTES or (end < 0 and len(received) > MAX_HEAD_BYTES):
        return Progress.TOO_LARGE
    if end < 0:
        return Progress.HEAD
    head = bytes(received[: end + 2])
    if _READ_BY_A_THREAD.search(head):
        return Progress.UPLOAD
    found = _LENGTH.search(head)
    length = int(found[1]) if found else 0
    if length > MAX_SMALL_BODY_BYTES:
        return Progress.UPLOAD
    return Progress.COMPLETE if len(received) >= end + len(_END_OF_HEAD) + length else Progress.BODY


def path_of(received: bytes | bytearray) -> bytes:
    """The path in the first line, as sent, without the query; b"" if there is none."""
    words = bytes(received[:256]).partition(b"\r\n")[0].split(b" ")
    return words[1].partition(b"?")[0] if len(words) > 1 else b""


def upload_seconds_left(received: int, waited: float) -> float:
    """For how long the server waits for more of a large body, of which it has so many bytes after waiting so long for
    the client; 0 or less: no longer."""
    return BODY_TIMEOUT_S + received / MIN_UPLOAD_RATE - waited
