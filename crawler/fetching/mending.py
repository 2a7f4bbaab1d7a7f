"""Heads that browsers read and a strict parser does not, put right for it."""

from __future__ import annotations

import re

from crawler.fetching.trouble import NotHttp

_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9])[ \t]+([0-9]{3})(?:[ \t][^\n]*)?\r?", re.IGNORECASE)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_CONTROLS = bytes(byte for byte in range(256) if byte < 32 or byte == 127)
_BLANKED = bytes.maketrans(_CONTROLS, b" " * len(_CONTROLS))
_LENGTH, _CODING = b"content-length", b"transfer-encoding"

Field = tuple[bytes, bytes]
"""A header's name and value."""


def mended(head: bytes) -> bytes:
    """The head, from its status line to its blank line, in the grammar of RFC 9112; NotHttp if it cannot be.

    1. The status line is spelt anew, in capitals, with single blanks and without the reason.
    2. A folded line goes on with the one before it; behind the status line it is dropped.
    3. Lines without a colon and those whose name is no name are dropped.
    4. Control characters in a value, NUL and a bare CR among them, become blanks.
    5. The headers that say where the body ends are made one, as `_framing` does it.
    """
    first, *rest = head.split(b"\n")
    fields = [field for line in _unfolded(rest) if (field := _field(line)) is not None]
    others = [field for field in fields if field[0].lower() not in (_LENGTH, _CODING)]
    lines = [name + b": " + value for name, value in (*others, *_framing(fields))]
    return b"\r\n".join([_status_line(first), *lines, b"", b""])


def check_status_line(head: bytes, start: int) -> None:
    """NotHttp if the line there has come to its end and is no status line: why wait for more?"""
    end = head.find(b"\n", start)
    if end >= 0:
        _status_line(head[start:end])


def _status_line(line: bytes) -> bytes:
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise NotHttp(f"the status line is {line[:60].decode('latin-1').strip()!r}")
    return b"HTTP/1.%d %s" % (match[1] != b"0", match[2])


def _unfolded(lines: list[bytes]) -> list[bytes]:
    whole: list[bytes] = []
    for line in lines:
        if line[:1] not in (b" ", b"\t"):
            whole.append(line)
        elif whole:
            whole[-1] = whole[-1].rstrip() + b" " + line.strip()
    return whole


def _field(line: bytes) -> Field | None:
    name, colon, value = line.partition(b":")
    if colon and _NAME.fullmatch(name):
        return name, value.translate(_BLANKED).strip()
    if name.strip().lower() in (_LENGTH, _CODING):
        raise NotHttp("the header that says where the body ends is garbled")
    return None


def _framing(fields: list[Field]) -> list[Field]:
    """What says where the body ends, so that nobody can read it in two ways (RFC 9112, 6.3).

    Lengths that are the same count once, one that is no number counts for nothing. A transfer coding takes their
    place, as browsers have it; but who sent both may have meant another end, so nothing is read behind it.
    """
    lengths = {part.strip() for part in _values(fields, _LENGTH)}
    codings = [part.strip() for part in _values(fields, _CODING) if part.strip().lower() != b"identity"]
    if len(lengths) > 1:
        raise NotHttp("the Content-Length headers contradict each other")
    if codings:
        coding = (b"Transfer-Encoding", b", ".join(codings))
        return [coding, (b"Connection", b"close")] if lengths else [coding]
    return [(b"Content-Length", length) for length in lengths if length.isdigit()]


def _values(fields: list[Field], name: bytes) -> list[bytes]:
    return [part for known, value in fields if known.lower() == name for part in value.split(b",")]
