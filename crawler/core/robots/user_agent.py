"""The User-Agent header that a user may choose, and the name by which robots.txt knows its crawler."""

from __future__ import annotations

import re

from crawler.core.errors import BadInput

MAX_LENGTH = 200  # characters

_HEADER = re.compile(r"[!-~](?:[ -~]*[!-~])?")  # visible ASCII, and blanks within
_PRODUCT_NAME = r"[^\s/;,()]+"
_FIRST = re.compile(_PRODUCT_NAME)
_COMPATIBLE = re.compile(rf"Mozilla/[\d.]+ \([^()]*\bcompatible; *({_PRODUCT_NAME})")


def check_user_agent(field: str, typed: str) -> None:
    """BadInput if it is no header, or names no product."""
    if len(typed) > MAX_LENGTH:
        raise BadInput(field, f"The user agent is longer than {MAX_LENGTH} characters.")
    if not _HEADER.fullmatch(typed) or not _FIRST.match(typed):
        raise BadInput(
            field,
            "The user agent must begin with a name and be one line of ASCII, such as "
            "ExampleBot/1.0 (+https://example.com/bot).",
        )


def product_token(user_agent: str) -> str:
    """The name that selects the group of a robots.txt (RFC 9309, 2.2.1): that of the first product, "ExampleBot" in
    "ExampleBot/1.0 (+https://example.com/bot)". Of a crawler that introduces itself as a browser it is the one behind
    "compatible": "Mozilla/5.0 (compatible; ExampleBot/1.0)"."""
    compatible = _COMPATIBLE.match(user_agent)
    if compatible:
        return compatible[1]
    first = _FIRST.match(user_agent)
    return first[0] if first else ""
