"""How many names of attributes a page has. The parser keeps each in a table that is made for hundreds: a page of a
hundred thousand takes it seconds, one of a million minutes."""

from __future__ import annotations

import re
from collections import Counter
from zlib import crc32

SHORT = 500_000  # bytes; what is shorter has too few names to matter
MOST_STRANGERS = 100  # names that were met once, among those that were looked at
_EVERY = 4096  # bytes, in each of which one place is looked at
_REACH = 8192  # bytes before and behind it in which its tag begins and ends

_QUOTED = re.compile(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""")
_NAME = re.compile(rb"""[\s"'/]([^\s"'/=]++)""")
_TAG = re.compile(rb"(<[a-zA-Z][^\s/<>]*+)([^<>]*+)")
_KEPT = re.compile(
    rb"""(?<![^\s"'/])(?:alt|content|data|href|http-equiv|name|rel|src)\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>]++)""",
    re.IGNORECASE,
)


def few(html: bytes) -> bytes:
    """The page itself; one with a flood of names without those attributes that matter to nobody here."""
    if len(html) <= SHORT or _strangers(html) <= MOST_STRANGERS:
        return html
    return _TAG.sub(lambda tag: b" ".join((tag[1], *_KEPT.findall(tag[2]))), html)


def _strangers(html: bytes) -> int:
    """Names that were met once, at places that nobody knows before the page is written: they follow from all of it."""
    seed, met = crc32(html), Counter[bytes]()
    for begin in range(0, len(html), _EVERY):
        met.update(set(_names_at(html, begin + crc32(begin.to_bytes(8), seed) % _EVERY)))
    return sum(times == 1 for times in met.values())


def _names_at(html: bytes, place: int) -> list[bytes]:
    """Those of the tag that this place is in."""
    begin = html.rfind(b"<", max(0, place - _REACH), place)
    if begin <= html.rfind(b">", max(0, place - _REACH), place):
        return []
    end = html.find(b">", place, place + _REACH)
    return _NAME.findall(_QUOTED.sub(b"", html[begin : end if end != -1 else place + _REACH]))
