"""A page read in one compiled pass, without a tree: the elements that `_TABLE` asks for, and the text of its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from crawler.core.html import nesting
from crawler.core.html.document import (
    ATTRIBUTES_UNCHECKED_BELOW,
    FEW_TAGS,
    MAX_COPIES,
    MAX_OPTIONS,
    MAX_TAGS,
    MOST_TAGS,
    NAMES_UNCHECKED_BELOW,
    is_parsed_whole,
)

try:
    import crawler_speedups
except ImportError:
    try:
        from crawler import crawler_speedups  # type: ignore[no-redef]  # where a wheel brought it
    except ImportError:  # it was not built: there is no compiler
        crawler_speedups = None

INTERFACE = 5  # another one was built from other sources, and is not used
MAX_BYTES = 8 * 1024 * 1024  # the scan takes four times as much memory
MAX_TEXT = 100  # characters of an anchor text
MAX_HEADING = 500  # characters of a title or a heading

_LOADED = ("src", "href", "data")
_TABLE = (
    # tag, how many of the attributes it must have, how the first of them begins, attributes, characters of its text,
    # whether it is returned as a link
    ("a", 1, "", ("href", "xlink:href", "rel"), MAX_TEXT, True),
    ("area", 1, "", ("href", "xlink:href", "rel"), 0, False),
    ("base", 1, "", ("href",), 0, False),
    ("link", 2, "", ("href", "rel"), 0, False),
    ("iframe", 1, "", _LOADED, MAX_TEXT, False),
    ("meta", 1, "", ("content", "name", "http-equiv"), 0, False),
    ("title", 0, "", (), MAX_HEADING, False),
    ("h1", 0, "", (), MAX_HEADING, False),
    # The resources that an https page loads over http. An "alt" is also read for the links around pictures.
    ("img", 1, "http:", (*_LOADED, "alt"), 0, False),
    *(
        (tag, 1, "http:", _LOADED, 0, False)
        for tag in ("script", "audio", "video", "source", "track", "embed", "input")
    ),
    ("object", 1, "http:", ("data", "href", "src"), 0, False),
)


class ScannedElement(Protocol):
    """An element that is no link, as `crawler_speedups` returns it."""

    @property
    def attributes(self) -> Mapping[str, str | None]: ...

    @property
    def attrs(self) -> Mapping[str, str | None]: ...

    @property
    def tag(self) -> str: ...

    @property
    def text(self) -> str: ...  # white space collapsed

    @property
    def position(self) -> int: ...  # the number of links before it


class ScannedPage(NamedTuple):
    """A page whose elements and texts are those of its tree."""

    elements: Sequence[ScannedElement]
    references: Sequence[str]  # of the links up to their "#", each once, in order of appearance
    numbers: Sequence[int]  # the index of each link's reference
    texts: Sequence[str]  # of each link: its anchor text, or the alternative text of its first picture
    rels: Mapping[int, str]  # index of a link -> its rel, as written
    body: bytes  # the text of the body without scripts and styles, in UTF-8
    is_plain: bool  # nothing has to be removed before a tree is built


_Limits = tuple[int, int, int, int, int, int, int, int, int]
_LIMITS = (
    *(MAX_TAGS, MOST_TAGS, nesting.MAX_NESTING, nesting.MAX_SHALLOW_OPTIONS, FEW_TAGS, MAX_OPTIONS, MAX_COPIES),
    *(ATTRIBUTES_UNCHECKED_BELOW, NAMES_UNCHECKED_BELOW),
)
_scanner: Any = None


def use(extension: Any) -> None:
    """Scan pages with this extension from now on; with None, or one of other sources, with none."""
    global _scanner  # noqa: PLW0603  # one for the process, as the extension is
    is_right = getattr(extension, "INTERFACE", None) == INTERFACE
    _scanner = scanner_of(extension, _LIMITS) if is_right else None
    nesting.use(_scanner.is_shallow if is_right else None)


def scanner_of(extension: Any, limits: _Limits) -> Any:
    return extension.Scanner(_TABLE, *limits)


use(crawler_speedups)


def is_available() -> bool:
    return _scanner is not None


def scan(html: bytes) -> ScannedPage | None:
    """The page, in UTF-8; None if only its tree says what is on it, see speedups/page_scanner.c, or none was built."""
    if _scanner is None or len(html) > MAX_BYTES:
        return None
    found = _scanner.scan(html)
    if isinstance(found, str):
        return None
    page = ScannedPage(*found)
    return page if page.is_plain or is_parsed_whole(html) else None
