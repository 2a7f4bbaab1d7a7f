"""Text of strangers with nothing in it that steers what shows it: a terminal, a log, a mail program."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

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


# The name of a file that holds a page: one that says which page, and that is safe wherever it is unpacked.

LONGEST_PART = 60  # characters
MOST_PARTS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9._~-]+")


def file_name(url: str, page_id: int, ending: str) -> str:
    """Such as "example.com/docs/intro-17.md": the page's host and path as far as every file system takes them, and its
    id, so that no two pages have the same. No part of it begins with a point, so it leads nowhere else."""
    parts = urlsplit(url)
    path = [_safe(part) for part in parts.path.split("/")]
    *folders, last = [_safe(parts.netloc) or "page", *(part for part in path[:-1] if part), path[-1] or "index"]
    stem = last.rsplit(".", 1)[0] if last.lower().endswith((".html", ".htm")) else last
    return "/".join([*folders[:MOST_PARTS], f"{stem}-{page_id}.{ending}"])


def _safe(part: str) -> str:
    return _UNSAFE.sub("_", part).strip("._")[:LONGEST_PART]
