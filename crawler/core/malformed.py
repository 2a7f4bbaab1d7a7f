"""Links that lead nowhere because of how they are written: which these are, and what is wrong with each."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from crawler.core.urls import MAX_URL_LENGTH, resolve

MAX_MALFORMED = 100  # links of one page that are kept; the others are counted
MAX_HREF = 500  # characters kept of one

_TYPED = ("http", "https", "mailto", "javascript")  # schemes that are written often enough to be mistyped
_OUTER = "".join(map(chr, range(0x21)))  # what the URL Standard takes off both ends
_INNER = str.maketrans("", "", "\t\r\n")  # and out of the middle
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT_FOLLOWS = re.compile(r"\d{1,5}(?:[/?#]|$)")
_AUTHORITY = re.compile(
    r"(?:https?:)?[/\\]*(?:[^/\\?#]*@)?(\[[^\]/\\?#]*\]?|[^:/\\?#]*)(?::([^/\\?#]*))?",  # its host, its port
    re.IGNORECASE,
)
_LOOKED_AT = 2 * MAX_HREF  # characters of a link that say what is wrong with it


class Malformed(msgspec.Struct, frozen=True, array_like=True):
    """One such link of a page."""

    written: str  # its href, at most MAX_HREF characters
    text: str = ""  # the words it is written with
    rel: str = ""  # "nofollow ugc sponsored", as far as it has them
    problem: str = ""


def problem_of(reference: str, base: str) -> str:
    """What is wrong with a link that no page can have as its URL (`urls.normalise` says None), found on a page whose
    links are resolved against `base`. "" when nothing is: it is for another program.

    1. A scheme of the web, or none: the URL Standard refuses it (its host or its port cannot be), or it is longer than
       any page's URL.
    2. A scheme that is nearly http, https, mailto or javascript ("htp", "hhtps") is mistyped. So is a host with a port
       in the place of a scheme ("example.com:8080/x", "localhost:3000").
    3. Any other scheme (mailto, tel, ftp, data, whatsapp, one of somebody's own) is right as it is.
    """
    begun = reference[:_LOOKED_AT].lstrip(_OUTER).translate(_INNER)
    scheme = _SCHEME.match(begun)
    name = scheme[1].lower() if scheme else ""
    if scheme is None or name in ("http", "https"):
        if resolve(reference, base) is None:
            return f"not a valid URL: {_refused(begun.rstrip(_OUTER))}"
        return f"longer than {MAX_URL_LENGTH:,} characters"
    if ("." in name or name == "localhost") and _PORT_FOLLOWS.match(begun, scheme.end()):
        return "no scheme before host and port"
    return f"unknown scheme {name}" if _is_mistyped(name) else ""


def _refused(reference: str) -> str:
    """Which part of its authority the URL Standard refuses; no other part can be wrong."""
    found = _AUTHORITY.match(reference)
    host, port = (found[1], found[2] or "") if found else ("", "")
    if not host:
        return "no host"
    is_port = not port or (port.isascii() and port.isdecimal() and int(port) <= 0xFFFF)
    return "invalid host" if is_port else "invalid port"


@lru_cache(maxsize=1000)
def _is_mistyped(name: str) -> bool:
    """Whether one letter more, less, changed or swapped makes a common scheme of it; two if the first is right."""
    return name not in _TYPED and any(
        abs(len(name) - len(typed)) <= 2 and _slips(name, typed) <= (2 if name[0] == typed[0] else 1)
        for typed in _TYPED
    )


def _slips(one: str, other: str) -> int:
    """The optimal string alignment distance."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        last, before, row = before, row, [at]
        for place, wanted in enumerate(other, 1):
            least = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != wanted))
            if at > 1 and place > 1 and (letter, one[at - 2]) == (other[place - 2], wanted):
                least = min(least, last[place - 2] + 1)
            row.append(least)
    return row[-1]
