"""One rule of a robots.txt: matching and specificity (RFC 9309, 2.2.2 and 2.2.3)."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

_UNRESERVED = "A-Za-z0-9._~-"  # the "-" is literal at the end of a character class
_KEPT_CHARACTERS = ":/?#@!&()+,;=" + _UNRESERVED
_TO_TIDY_IN_RULE = re.compile(f"%[0-9A-Fa-f]{{2}}|[^*{_KEPT_CHARACTERS}]")
_OTHER_ASCII = re.sub(f"[{_KEPT_CHARACTERS}]", "", "".join(map(chr, range(128))))
_TO_TIDY_IN_URL = re.compile(f"%[0-9A-Fa-f]{{2}}|[{re.escape(_OTHER_ASCII)}]")  # only ASCII is normalised
_IS_UNRESERVED = re.compile(f"[{_UNRESERVED}]")
_QUERY_TEXT = {"%2F": "/", "%3A": ":", "%3F": "?", "%40": "@"}  # delimiters of a path, without meaning in a query
_IN_QUERY = re.compile("|".join(_QUERY_TEXT))


class Rule(msgspec.Struct, frozen=True):
    """One allow or disallow line."""

    allow: bool
    parts: tuple[str, ...]  # between the "*", in comparable form
    anchored: bool  # ended with "$"
    line: int = 0  # its number in the file, from 1
    source: str = ""  # the line without its comment; octets that are not UTF-8 as lone surrogates

    @property
    def length(self) -> int:
        """Octets of the pattern: the more, the more specific (RFC 9309, 2.2.2)."""
        return sum(map(len, self.parts)) + len(self.parts) - 1 + self.anchored

    def matches(self, target: str) -> bool:
        """Whether the pattern matches this path and query in comparable form.

        Each part is matched at its first occurrence, which leaves the most text for the next: no backtracking.
        """
        first, *others = self.parts
        if not target.startswith(first):
            return False
        if not others:
            return not self.anchored or target == first
        position = len(first)
        for part in others[:-1]:
            found = target.find(part, position)
            if found == -1:
                return False
            position = found + len(part)
        if self.anchored:
            return len(target) - len(others[-1]) >= position and target.endswith(others[-1])
        return target.find(others[-1], position) != -1


def rule_of(*, allow: bool, pattern: str, line: int = 0, source: str = "") -> Rule:
    """The rule of a line's value, which is not empty; a missing slash at its start is added."""
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    anchored = pattern.endswith("$")
    comparable = _comparable(pattern.removesuffix("$"), _TO_TIDY_IN_RULE)
    return Rule(allow, tuple(re.split(r"\*+", comparable)), anchored, line, source)


def target_of(url: str) -> str:
    """Path and query of a normalised URL in the form rules are compared with."""
    return _comparable(url[url.index("/", 8) :], _TO_TIDY_IN_URL)


def _comparable(text: str, to_tidy: re.Pattern[str]) -> str:
    """Path and query in the form in which rules and URLs are compared (2.2.2).

    Unreserved characters are literal; all characters without a meaning in a URL are encoded, in upper case. So are
    "$" and a URL's "*": "%24" and "%2A" in a rule match them verbatim (2.2.3). "/foo?bar=https://foo.bar" is the
    same as "/foo?bar=https%3A%2F%2Ffoo.bar".
    """
    path, mark, query = to_tidy.sub(_tidied, text).partition("?")
    return path + mark + _IN_QUERY.sub(lambda match: _QUERY_TEXT[match[0]], query)


def _tidied(match: re.Match[str]) -> str:
    return _encoded(match[0])


@lru_cache(maxsize=1024)  # a character to encode is often repeated
def _encoded(found: str) -> str:
    if len(found) == 1:
        return "".join(f"%{octet:02X}" for octet in found.encode("utf-8", "surrogateescape"))
    character = chr(int(found[1:], 16))
    return character if _IS_UNRESERVED.match(character) else found.upper()
