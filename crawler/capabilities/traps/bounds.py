"""Hard bounds that need no reading: the depth of a path, the length of a URL, links from the start."""

import re
from collections.abc import Sequence

import msgspec

from crawler.core.pages.traps import TrapReason
from crawler.core.urls.normalise import host_of

MAX_SEGMENTS = 24  # published file trees end before 20
LONG_URL = 1_000  # characters, on a page whose own URL has LONG_PARENT: signed links are long, but not in a row
LONG_PARENT = 400
_NUMBER = re.compile(r"\d")
SERIES_DEPTH = 1_000  # links from the start; only a chain of "next" leads so deep
SERIES_PAGES = 5_000  # of one pattern at such a depth, so that ?page=1..5000 is fetched by "next" links alone


class Bound(msgspec.Struct, frozen=True):
    """A bound that a URL exceeds."""

    reason: TrapReason
    pattern: str
    pages: int = 0  # of the pattern that are requested nevertheless


def may_exceed(url: str, depth: int) -> bool:
    """A cheap look: False for nearly all URLs."""
    return len(url) > LONG_URL or depth > SERIES_DEPTH or url.count("/") > MAX_SEGMENTS


def bound_of(url: str, depth: int, parent: str) -> Bound | None:
    """The bound exceeded by this URL, found on the page `parent`."""
    host = host_of(url)
    address, _, query = url.partition("?")
    segments = address[address.index("/", 8) + 1 :].strip("/").split("/")
    if len(segments) > MAX_SEGMENTS or (len(url) > LONG_URL and len(parent) > LONG_PARENT):
        return Bound(TrapReason.LONGER, f"{host}/{segments[0]}…")
    if depth > SERIES_DEPTH:
        return Bound(TrapReason.SERIES, f"{host}/{_series(segments, query)}", SERIES_PAGES)
    return None


def starred(segments: Sequence[str]) -> list[str]:
    """The segments of a path; those with a number become "*"."""
    return ["*" if _NUMBER.search(segment) else segment for segment in segments]


def _series(segments: Sequence[str], query: str) -> str:
    """Numbers change from one page to the next; without numbers and query, the last segment does."""
    parts = starred(segments)
    if not query and "*" not in parts:
        parts[-1] = "*"
    names = sorted({f"{piece.partition('=')[0]}=*" for piece in query.split("&") if piece})
    return "/".join(parts) + (f"?{'&'.join(names)}" if names else "")
