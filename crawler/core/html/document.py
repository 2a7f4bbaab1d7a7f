"""The tree of a page, built in bounded time whatever the page is."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple
from zlib import crc32

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode

# How many names of attributes a page has. The parser keeps each in a table that is made for hundreds: a page of a
# hundred thousand takes it seconds, one of a million minutes.

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


# Building the tree walks up through the open elements at every block and through the attributes at every attribute: its
# time grows with the square of either. A million nested <div>, or attributes of one tag, would hold a worker for hours;
# with these limits the worst page takes about a second per megabyte. See `document_of`.
MAX_TAGS = 20_000
MOST_TAGS = 100_000  # of those that are kept of an extreme page; each takes up to 700 bytes of memory
MAX_NULS = 10_000  # of a page that has more they are left out: the parser takes 16 bytes to note each
MAX_ATTRIBUTES = 1000
_SHORT = 100_000  # bytes; what is shorter has too few attributes to matter

# An <i a=1> that is never closed is put into every later paragraph once more, be its attributes others than those of
# the <i> before: ten thousand of each, in 140 kB, would be 50 million elements in 18 GB.
MAX_COPIES = 500_000
_FEW_TAGS = 2000  # even if they are nothing else
_PART = 256 * 1024  # bytes

_STRUCTURE_BEGUN = (
    rb"</?(?!(?:a|area|base|frame|frameset|iframe|link|meta|script|style|template|textarea|title)[\s/>])[a-zA-Z]"
)
_STRUCTURE = re.compile(_STRUCTURE_BEGUN + rb"[^<>]*+>", re.IGNORECASE)
_ODD_STRUCTURE = re.compile(_STRUCTURE_BEGUN, re.IGNORECASE)  # a tag can hold a "<": <div <>, <div x="<">
# A tag that is not crowded is matched too, as far as its first ">", and kept: no tag can begin before that. Looked at
# once more from each "<" in it, <a<a<a... would take the square of its length.
_CROWDED_TAG = re.compile(
    rb"""<[a-zA-Z](?:[^\s/>]*+(?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+)"""
    rb"{%d}[^>]*+>?|(?P<kept>[^>]*+))" % MAX_ATTRIBUTES
)
_STYLES = ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
_STYLE = "|".join("".join(f"[{letter}{letter.upper()}]" for letter in name) for name in _STYLES).encode()
_PLAIN = (
    rb"""(?:[^<>"'=]++|(?<=[^\s<>"'=/])=(?:"[^"<>]*+"|'[^'<>]*+'|(?![\s"'=])))*+>"""  # attributes, read in one way only
)
_INLINE = rb"(?:[^<]++|</?(?:span|a|br|img)(?=[\s>])[^<>]*+>)*+"
_LEFT_OPEN = re.compile(
    rb"<(?=[bcefinstuBCEFINSTU](?!pan))(%s)(?=[\s/])(?!%s%s</\1[\s>])(%s)?" % (_STYLE, _PLAIN, _INLINE, _PLAIN)
)
_STYLED = re.compile(rb"<(%s)[\s/][^>]*+>?" % _STYLE)


def _with_styles_closed() -> str:
    """Matches a page in which none is left open. An automaton reads it twice as fast as the others are found; as it
    cannot look ahead, it is told of every beginning of a name how it does not go on."""
    beginnings = {name[:end] for name in _STYLES for end in range(len(name) + 1)}
    others = []
    for begun in sorted(beginnings):
        letters = {name[len(begun)] for name in _STYLES if name.startswith(begun) and name != begun}
        goes_on = "".join(letter + letter.upper() for letter in sorted(letters)) + r"\s/" * (begun in _STYLES)
        others.append(rf"<(?i:{begun})[^<{goes_on}]")
    attributes = r"""(?:[^<>"'=]*[^\s<>"'=/]=(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"'=]))*[^<>"'=]*"""
    inline = r"(?:[^<]|</?(?:span|a|br|img)(?:\s[^<>]*)?>)*"
    closed = (rf"<(?i:{name})[\s/]{attributes}>{inline}</(?i:{name})[\s>]" for name in _STYLES)
    return rf"(?:[^<]|{'|'.join((*others, *closed))})*"


_BYTES = re2.Options()
_BYTES.encoding = re2.Options.Encoding.LATIN1
_BYTES.never_capture = True
_ALL_CLOSED = re2.compile(_with_styles_closed().encode(), _BYTES)
# Without a ">" in a quoted value every tag ends at the first one: then only a tag without any for 2,000 bytes can be
# crowded. Both are told by an automaton, in a fifth of the time it takes to count.
_MAY_BE_CROWDED = re2.compile(
    rb"""<[a-zA-Z][^>]*=\s*(?:"[^">]*>|'[^'>]*>)|<[a-zA-Z][^>]{%d}[^>]{%d}""" % (MAX_ATTRIBUTES, MAX_ATTRIBUTES - 2),
    _BYTES,
)


class Document(NamedTuple):
    """A page that was parsed."""

    tree: LexborHTMLParser
    is_whole: bool  # False: it is extreme, and only what matters to links was parsed
    is_cut: bool  # and not even all of that
    size: int  # bytes that were parsed


def document_of(html: str | bytes) -> Document:
    """This text, or its UTF-8, as browsers build its tree: in bounded time and memory, whatever the page is.

    With more than MAX_TAGS tags only those that can matter to links are kept, and of these the first MOST_TAGS. Tags
    such as <i> that would be copied more than MAX_COPIES times lose their attributes. A tag with MAX_ATTRIBUTES
    attributes is dropped, and all attributes that matter to nobody are where `core.html.document` finds too many names;
    so are all null bytes, if there are more than MAX_NULS.
    """
    whole = html.encode("utf-8", "replace") if isinstance(html, str) else html
    if b"\0" in whole and whole.count(b"\0") > MAX_NULS:  # to count takes thirty times as long
        whole = whole.replace(b"\0", b"")
    tags = whole.count(b"<") if len(whole) > 6 * _FEW_TAGS else 0
    if tags > MAX_TAGS:
        kept, is_cut = _beginning(_without_structure(whole))
        return _parsed(few(_uncrowded(kept)), is_whole=False, is_cut=is_cut)
    bounded = whole
    if tags > _FEW_TAGS and _left_open(whole) * tags > MAX_COPIES:
        bounded = _STYLED.sub(rb"<\1>", whole)
    bounded = few(_uncrowded(bounded))
    return _parsed(bounded, is_whole=bounded is whole)


def _parsed(html: bytes, *, is_whole: bool, is_cut: bool = False) -> Document:
    return Document(LexborHTMLParser(html), is_whole, is_cut, len(html))


def attribute(node: LexborNode, name: str) -> str:
    """The attribute's value; "" when there is none, or it is written without one."""
    value: str | None = node.attrs.get(name)
    return value or ""


def collapsed(text: str, most: int) -> str:
    """At most `most` characters of this text, white space collapsed. Of a long one no more is taken apart than that."""
    return " ".join(text.split(None, most)[:most])[:most]


def _beginning(html: bytes) -> tuple[bytes, bool]:
    """The first MOST_TAGS tags, and whether there are more."""
    if html.count(b"<") <= MOST_TAGS:
        return html, False
    rest = html.split(b"<", MOST_TAGS + 1)[-1]
    return html[: len(html) - len(rest) - 1], True


def _uncrowded(html: bytes) -> bytes:
    """The page without crowded tags; the page itself when there are none."""
    if len(html) > _SHORT and _MAY_BE_CROWDED.search(html):
        uncrowded = _CROWDED_TAG.sub(lambda tag: b"" if tag["kept"] is None else tag[0], html)
        return html if len(uncrowded) == len(html) else uncrowded
    return html


def _without_structure(html: bytes) -> bytes:
    kept = _without(_STRUCTURE, html)
    return kept if kept.count(b"<") <= MAX_TAGS else _without(_ODD_STRUCTURE, kept)


def _without(tags: re.Pattern[bytes], html: bytes) -> bytes:
    """The page without these, none of which goes beyond a "<"; part by part, because `re` keeps all that lies between
    them until it is done: forty times the page."""
    parts, at = [], 0
    while at < len(html):
        end = html.find(b"<", at + _PART)
        end = len(html) if end == -1 else end
        parts.append(tags.sub(b"", html[at:end]))
        at = end
    return b"".join(parts)


def _left_open(html: bytes) -> int:
    """How many elements such as <i> are copied into what follows, at most: those that hold more than a few words, and
    three of those that are the same (https://html.spec.whatwg.org/#push-onto-the-list-of-active-formatting-elements)."""
    if _ALL_CLOSED.fullmatch(html):
        return 0
    found = _LEFT_OPEN.findall(html)
    return sum(not said for _, said in found) + 3 * len({said for said in found if said[1]})
