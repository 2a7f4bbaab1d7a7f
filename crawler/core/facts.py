"""What a page says of itself beside its links, for the reports: description, heading, canonical address, content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.document import Document, attribute, collapsed
from crawler.core.malformed import Malformed
from crawler.core.sketches import MOST_WORDS, sketch_of
from crawler.core.urls import normalise
from crawler.core.words import words_of

MAX_DESCRIPTION = 1000  # characters
MAX_HEADING = 500  # characters
MAX_HEADINGS = 20  # that are looked at for words: they may hold one another, and all of them the same text
MAX_INSECURE = 20  # of a page that loads more over plain HTTP, these are named
MAX_ADDRESS = 2000  # characters of what it loads
DIGEST_BYTES = 16
LITTLE_TEXT = 100  # characters; links to the next page and back are fewer
PIECE = 1024 * 1024  # bytes or characters; what is longer is worked on in ways that take less memory

_UNSEEN = frozenset({"script", "style"})

AT_LARGE = f"h1, {', '.join(sorted(_UNSEEN))}"
"""The elements, beside those that matter to links, which `facts_of` wants to be shown."""

_SOURCES = "img, script, iframe, audio, video, source, track, embed, input"
_SHOWN = "img, picture, svg, canvas, video, audio, iframe, frame, object, embed"
_INSECURE = ", ".join(f"{name}[src^='http:' i]" for name in _SOURCES.split(", ")) + ", object[data^='http:' i]"
_STYLES = "link[rel~='stylesheet' i][href^='http:' i]"


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read of one HTML page."""

    description: str = ""  # of the meta element, white space collapsed
    h1: str = ""  # the first
    h1_count: int | None = None  # None = not known: the page is too large to tell
    canonical: str = ""  # normalised URL of the first link rel=canonical; "" = none that could be asked for
    canonicals: int = 0  # links rel=canonical
    digest: bytes = b""  # of the visible text; two pages with the same say the same. b"" = there is none
    words: int | None = None  # of the visible text; None = not counted
    insecure: tuple[str, ...] = ()  # what an https page loads over http, the first MAX_INSECURE
    sketch: bytes = b""  # by which near-duplicates are found; b"" unless it was asked for
    fields: dict[str, Any] = {}  # name -> value, by the crawl's extraction rules
    notes: dict[str, str] = {}  # name -> why that field has no value, or not all of it
    shows_more: bool = False  # there is little visible text, and pictures, frames or scripts beside it
    malformed: tuple[Malformed, ...] = ()  # the first of its links that lead nowhere because of how they are written
    malformed_number: int = 0  # of all of them


NOTHING = Facts()


def facts_of(
    document: Document,
    at_large: Sequence[LexborNode],
    metas: Iterable[tuple[str, str]],
    base: str,
    url: str,
    *,
    sketches: bool = False,
) -> Facts:
    """What the page at the normalised `url` says of itself. Its tree is changed: no links can be read from it
    afterwards. `at_large` are its elements that AT_LARGE and `core.links` ask for.

    1. The description is that of the first meta element of this name, the heading the first h1 with words in it, if
       that is one of the first MAX_HEADINGS.
    2. Visible text is that of the body without scripts and styles; noscript is seen, because we run no scripts. Its
       digest is BLAKE2b.
    3. Insecure is what an https page loads over http: pictures, scripts, frames, media and style sheets, as written
       (https://www.w3.org/TR/mixed-content/).
    4. Equal texts of pages with fewer than LITTLE_TEXT characters say little where pictures or scripts say the rest.
    5. With `sketches` the words of the visible text are counted, and a sketch is made of them, see `core.sketches`.
    """
    canonicals = [node for node in at_large if node.tag == "link" and "canonical" in _words(attribute(node, "rel"))]
    headings = [node for node in at_large if node.tag == "h1"]
    page = document.tree
    insecure = _insecure(page) if url.startswith("https:") else ()
    has_scripts = any(node.tag == "script" for node in at_large)
    text = _visible_text(document, at_large)
    shows_more = len(text) < LITTLE_TEXT and (has_scripts or page.css_first(_SHOWN) is not None)
    digest = _digest(text)
    spoken, count = words_of(page.body.text(separator=" "), MOST_WORDS) if sketches and page.body else (None, None)
    return Facts(
        description=_description(metas),
        h1=_first_words(headings[:MAX_HEADINGS]),
        h1_count=len(headings) if document.is_whole else None,
        canonical=(normalise(attribute(canonicals[0], "href"), base) or "") if canonicals else "",
        canonicals=len(canonicals),
        digest=digest,
        insecure=insecure,
        words=count,
        sketch=sketch_of(spoken) if spoken else b"",
        shows_more=shows_more,
    )


def _description(metas: Iterable[tuple[str, str]]) -> str:
    for name, content in metas:
        if name.strip().lower() == "description":
            return collapsed(content, MAX_DESCRIPTION)
    return ""


def _first_words(headings: Iterable[LexborNode]) -> str:
    return next((words for node in headings if (words := collapsed(node.text(), MAX_HEADING))), "")


def _visible_text(document: Document, at_large: Sequence[LexborNode]) -> str:
    body = document.tree.body
    for node in reversed(at_large):  # what is in an element goes before it does: afterwards it is gone
        if node.tag in _UNSEEN:
            node.remove()
    if body is None:
        return ""
    # The former is faster, and leaves a copy of the text behind for as long as there is the tree.
    return (body.text_lexbor() if document.size <= PIECE else body.text()).strip()


def _digest(text: str) -> bytes:
    if not text:
        return b""
    digest = blake2b(digest_size=DIGEST_BYTES)
    for at in range(0, len(text), PIECE):
        digest.update(text[at : at + PIECE].encode("utf-8", "replace"))
    return digest.digest()


def _insecure(page: LexborHTMLParser) -> tuple[str, ...]:
    found = dict.fromkeys(
        (attribute(node, "href") or attribute(node, "src") or attribute(node, "data"))[:MAX_ADDRESS]
        for node in page.css(f"{_INSECURE}, {_STYLES}")
    )
    return tuple(found)[:MAX_INSECURE]


def _words(rel: str) -> list[str]:
    return rel.lower().split()
