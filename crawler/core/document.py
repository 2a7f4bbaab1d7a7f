"""The tree of a page, built in bounded time whatever the page is."""

from __future__ import annotations

import re
from typing import NamedTuple

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode

# Building the tree walks up through the open elements at every block and through the attributes at every attribute: its
# time grows with the square of either. A million nested <div>, or attributes of one tag, would hold a worker for hours;
# with these limits the worst page takes about a second per megabyte. See `_tamed`.
MAX_TAGS = 20_000
MAX_ATTRIBUTES = 1000
_SHORT = 100_000  # bytes; what is shorter has too few attributes to matter

_STRUCTURE = re.compile(
    rb"</?(?!(?:a|area|base|frame|frameset|iframe|link|meta|script|style|template|textarea|title)[\s/>])[a-zA-Z][^<>]*+>",
    re.IGNORECASE,
)
_CROWDED_TAG = re.compile(
    rb"""<[a-zA-Z][^\s/>]*+(?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+)"""
    rb"{%d}[^>]*+>?" % MAX_ATTRIBUTES
)
# Without a ">" in a quoted value every tag ends at the first one: then only a tag without any for 2,000 bytes can be
# crowded. Both are told by an automaton, in a fifth of the time it takes to count.
_BYTES = re2.Options()
_BYTES.encoding = re2.Options.Encoding.LATIN1
_MAY_BE_CROWDED = re2.compile(
    rb"""<[a-zA-Z][^>]*=\s*(?:"[^">]*>|'[^'>]*>)|<[a-zA-Z][^>]{%d}[^>]{%d}""" % (MAX_ATTRIBUTES, MAX_ATTRIBUTES - 2),
    _BYTES,
)


class Document(NamedTuple):
    """A page that was parsed."""

    tree: LexborHTMLParser
    is_whole: bool  # False: it is extreme, and only what matters to links was parsed


def document_of(html: str | bytes) -> Document:
    """This text, or its UTF-8, as browsers build its tree."""
    whole = html.encode("utf-8", "replace") if isinstance(html, str) else html
    tamed = _tamed(whole)
    return Document(LexborHTMLParser(tamed), tamed is whole)


def attribute(node: LexborNode, name: str) -> str:
    """The attribute's value; "" when there is none, or it is written without one."""
    value: str | None = node.attrs.get(name)
    return value or ""


def words_in(node: LexborNode) -> str:
    """The text of this element, white space collapsed."""
    return " ".join(node.text().split())


def _tamed(html: bytes) -> bytes:
    """The page in a form whose tree is built in bounded time; the page itself, unless it is extreme.

    With more than MAX_TAGS tags only those that can matter to links are kept. A tag with MAX_ATTRIBUTES attributes is
    dropped.
    """
    if len(html) > 3 * MAX_TAGS and html.count(b"<") > MAX_TAGS:
        html = _STRUCTURE.sub(b"", html)
    if len(html) > _SHORT and _MAY_BE_CROWDED.search(html):
        return _CROWDED_TAG.sub(b"", html)
    return html
