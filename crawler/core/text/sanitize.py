"""Untrusted text without control characters for terminals, logs and mail; and safe file names."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_CONTROLS = (
    "\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f"  # control characters; C1 ones begin sequences as ESC does
    "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"  # change the direction of text
    "\\u2028\\u2029\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e007f"  # end lines, or are invisible
)
_IN_A_LINE = re.compile(f"[\\n{_CONTROLS}]")
_IN_LINES = re.compile(f"(?!\\r\\n)[{_CONTROLS}]")


def one_line(text: str) -> str:
    """The text on one line, with invisible characters as JSON escapes, which mean the same in JSON."""
    return text if text.isprintable() else _IN_A_LINE.sub(_escape, text)


def lines(text: str) -> str:
    """The same, with line ends kept."""
    return text if text.isprintable() else _IN_LINES.sub(_escape, text)


MAX_REPR = 60  # characters


def short_repr(value: object) -> str:
    """A value that a user gave, for a message."""
    try:
        text = repr(value)
    except ValueError:  # a number with more digits than Python formats
        return "so long a number"
    return text if len(text) <= MAX_REPR else f"{text[: MAX_REPR - 1]}…"


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


# File names of pages, safe on every file system.

MAX_PART_LENGTH = 60  # characters
MAX_FOLDERS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9._~-]+")


def file_name(url: str, page_id: int, ending: str) -> str:
    """Such as "example.com/docs/intro-17.md": the page's host and path in characters of every file system, and its id,
    which makes it unique. No part begins with a dot, so the path cannot leave the folder."""
    parts = urlsplit(url)
    path = [_safe(part) for part in parts.path.split("/")]
    *folders, last = [_safe(parts.netloc) or "page", *(part for part in path[:-1] if part), path[-1] or "index"]
    stem = last.rsplit(".", 1)[0] if last.lower().endswith((".html", ".htm")) else last
    return "/".join([*folders[:MAX_FOLDERS], f"{stem}-{page_id}.{ending}"])


def _safe(part: str) -> str:
    return _UNSAFE.sub("_", part).strip("._")[:MAX_PART_LENGTH]
