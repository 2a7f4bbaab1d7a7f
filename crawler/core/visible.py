"""Text of strangers with nothing in it that steers what shows it: a terminal, a log, a mail program."""

from __future__ import annotations

import re

_STEERS = (
    "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f"  # control characters; C1 ones begin sequences as ESC does
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # turn the direction of text round
    "\\u2028\\u2029\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f"  # end lines, or stand there unseen
)
_IN_A_LINE = re.compile(f"[\\n{_STEERS}]")
_IN_LINES = re.compile(f"(?!\\r\\n)[{_STEERS}]")


def one_line(text: str) -> str:
    """The text on one line, with what is no visible character written as an escape of JSON: in JSON it means the
    same."""
    return text if text.isprintable() else _IN_A_LINE.sub(_escape, text)


def lines(text: str) -> str:
    """The same of text whose line ends are meant."""
    return text if text.isprintable() else _IN_LINES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
