"""What can be wrong with the canonical address that a page names (RFC 6596)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Conflict(StrEnum):
    """How a canonical address contradicts itself; the value stands in files."""

    SEVERAL = "several"  # the page names more than one
    TO_ERROR = "to_error"  # it leads to an error, or to nothing
    TO_REDIRECT = "to_redirect"
    TO_FORBIDDEN = "to_forbidden"  # robots.txt keeps search engines from it
    TO_NOINDEX = "to_noindex"
    LOOP = "loop"  # the page it names leads back to this one
    CHAIN = "chain"  # the page it names names yet another


def follows(url: str, elsewhere: Mapping[str, str]) -> Conflict | None:
    """What comes of a page that names another; `elsewhere` has what each such page names."""
    seen = {url}
    here = elsewhere[url]
    hops = 1
    while here in elsewhere and here not in seen:
        seen.add(here)
        here = elsewhere[here]
        hops += 1
    if here == url:
        return Conflict.LOOP
    return Conflict.CHAIN if hops > 1 else None
