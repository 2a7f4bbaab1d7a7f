"""The parser of HTML pages, in bounded time and memory for any page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from zlib import crc32

import re2
from selectolax.lexbor import LexborHTMLParser

from crawler.core.html.nesting import is_shallow

# Attribute names. The parser keeps each in a table made for hundreds: a hundred thousand names take seconds, a million
# minutes.

NAMES_UNCHECKED_BELOW = 500_000  # bytes; a shorter page has too few names to matter
MAX_RARE_NAMES = 100  # names that occur once in the sample
_SAMPLE_INTERVAL = 4096  # bytes; one position in each is sampled
_TAG_REACH = 8192  # bytes before and after the position in which its tag begins and ends

_QUOTED = re.compile(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""")
_ATTRIBUTE_NAME = re.compile(rb"""[\s"'/]([^\s"'/=]++)""")
_TAG = re.compile(rb"(<[a-zA-Z][^\s/<>]*+)([^<>]*+)")
_KEPT = re.compile(
    rb"""(?<![^\s"'/])(?:alt|content|data|href|http-equiv|name|rel|src)\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>]++)""",
    re.IGNORECASE,
)


def few(html: bytes) -> bytes:
    """The page; one with too many attribute names without the attributes that are not used here."""
    if len(html) <= NAMES_UNCHECKED_BELOW or _rare_names(html) <= MAX_RARE_NAMES:
        return html
    return _TAG.sub(lambda tag: b" ".join((tag[1], *_KEPT.findall(tag[2]))), html)


def _rare_names(html: bytes) -> int:
    """The number of names that occur once in a sample. Its positions depend on the whole page, so that an author cannot
    avoid them."""
    seed, met = crc32(html), Counter[bytes]()
    for begin in range(0, len(html), _SAMPLE_INTERVAL):
        met.update(set(_names_at(html, begin + crc32(begin.to_bytes(8), seed) % _SAMPLE_INTERVAL)))
    return sum(times == 1 for times in met.values())


def _names_at(html: bytes, place: int) -> list[bytes]:
    """The attribute names of the tag at this position."""
    begin = html.rfind(b"<", max(0, place - _TAG_REACH), place)
    if begin <= html.rfind(b">", max(0, place - _TAG_REACH), place):
        return []
    end = html.find(b">", place, place + _TAG_REACH)
    return _ATTRIBUTE_NAME.findall(_QUOTED.sub(b"", html[begin : end if end != -1 else place + _TAG_REACH]))


# The parser walks through the open elements at every block, and through the attributes at every attribute: its time
# grows with the square of either. A million nested <div>, or attributes of one tag, would block a worker for hours;
# with these limits the worst page takes about a second per megabyte. See `document_of`.
MAX_TAGS = 20_000  # of any page
MOST_TAGS = 100_000  # of one whose elements are nested in few levels, and kept of others; each takes up to 700 bytes
MAX_NULS = 10_000  # if a page has more, all are removed: the parser needs 16 bytes for each
MAX_ATTRIBUTES = 1000
ATTRIBUTES_UNCHECKED_BELOW = 100_000  # bytes; a shorter page has too few attributes to matter

# An unclosed <i a=1> is copied into every later paragraph, unless its attributes equal those of an earlier <i>: ten
# thousand of each, in 140 kB, would be 50 million elements in 18 GB.
MAX_COPIES = 500_000
FEW_TAGS = 2000  # even if they are nothing else
_PART = 256 * 1024  # bytes

_GROWING = ((b"&nGt;", "\u226b\u20d2".encode()), (b"&nLt;", "\u226a\u20d2".encode()))

# At each <option> the parser walks through the whole list, and copies what is chosen into a <selectedcontent>: ten
# thousand options, in 250 kB, would take seconds.
MAX_OPTIONS = 500  # of a page with more than FEW_TAGS
_OPTION = re.compile(rb"<option", re.IGNORECASE)
_SELECT = re.compile(rb"(</?)select(?=[\s/>])", re.IGNORECASE)

_STRUCTURE_BEGUN = (
    rb"</?(?!(?:a|area|base|frame|frameset|iframe|link|meta|script|style|template|textarea|title)[\s/>])[a-zA-Z]"
)
_STRUCTURE = re.compile(_STRUCTURE_BEGUN + rb"[^<>]*+>", re.IGNORECASE)
_ODD_STRUCTURE = re.compile(_STRUCTURE_BEGUN, re.IGNORECASE)  # a tag can hold a "<": <div <>, <div x="<">
# A tag that is not crowded is matched too, up to its first ">", and kept: no tag can begin before that. Matching again
# from each "<" in it would take the square of the length of <a<a<a...
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
    rb"<(?=[bcefinstuBCEFINSTU](?!pan))(%s)(?=[\s/])(?!%s%s</(?i:\1)[\s>])(%s)?" % (_STYLE, _PLAIN, _INLINE, _PLAIN)
)
_STYLED = re.compile(rb"<(%s)[\s/][^>]*+>?" % _STYLE)


def _style_left_open() -> str:
    """A pattern for what `_LEFT_OPEN` finds, for an automaton; it may find more: <em x></Em>. It has no lookahead, so
    every way to go on is listed. All of them begin with "<", so the automaton skips text."""
    name = r"""[^<>"'=]*[^\s<>"'=/]"""
    attributes = rf"""(?:{name}=(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"'=]))*"""
    odd = (
        rf"""[^<>"'=]*(?:[<"']|\z)|(?:[^<>"'=]*[\s/])?="""
        rf"""|{name}=(?:[\s<>=]|\z|"[^"<>]*(?:[<>]|\z)|'[^'<>]*(?:[<>]|\z))"""
    )
    inline = "/?(?:span|a|br|img)"
    inlines = [slash + tag for slash in ("", "/") for tag in ("span", "a", "br", "img")]
    content = rf"(?:[^<]|<{inline}(?:\s[^<>]*)?>)*"
    left_open = []
    for style in _STYLES:
        other = _none_of([*inlines, f"/{style}", f"/{style.upper()}"])
        unclosed = rf"""[^<>"'=]*>{content}(?:\z|<(?:{other}|{inline}\s[^<>]*(?:<|\z)))"""
        left_open.append(rf"(?i:{style})[\s/]{attributes}(?:{odd}|{unclosed})")
    return f"<(?:{'|'.join(left_open)})"


def _none_of(tags: Sequence[str]) -> str:
    """A pattern for the beginning of any tag but these: each prefix of theirs with what does not follow."""
    others = []
    for begun in sorted({tag[:end] for tag in tags for end in range(len(tag) + 1)}):
        letters = {tag[len(begun)] for tag in tags if tag.startswith(begun) and tag != begun}
        goes_on = "".join(sorted(letters)) + r"\s>" * (begun in tags)
        others.append(rf"{begun}(?:[^{goes_on}]|\z)")
    return "|".join(others)


_BYTES = re2.Options()
_BYTES.encoding = re2.Options.Encoding.LATIN1
_BYTES.never_capture = True
_MAY_BE_LEFT_OPEN = re2.compile(_style_left_open().encode(), _BYTES)
# Without a ">" in a quoted value every tag ends at the first one: then only a tag of 2,000 bytes without one can be
# crowded. The automaton finds both in a fifth of the time it takes to count.
_MAY_BE_CROWDED = re2.compile(
    rb"""<[a-zA-Z][^>]*=\s*(?:"[^">]*>|'[^'>]*>)|<[a-zA-Z][^>]{%d}[^>]{%d}""" % (MAX_ATTRIBUTES, MAX_ATTRIBUTES - 2),
    _BYTES,
)
# Nearly every page has neither anywhere, which is seen in half the time again.
_QUOTED_TAG_END = re2.compile(rb"""=\s*(?:"[^">]*>|'[^'>]*>)""", _BYTES)


class HasAttributes(Protocol):
    """An element of a tree, or of a page that was scanned."""

    @property
    def attributes(self) -> Mapping[str, str | None]: ...

    @property
    def attrs(self) -> Any: ...  # the same; in a tree it takes less time to read one of them


Node = TypeVar("Node", bound=HasAttributes)
Element = tuple[Node, str | None]
"""An element and its tag in lower case, which takes as long to read as a short text."""


class Document(NamedTuple):
    """A parsed page."""

    tree: LexborHTMLParser
    is_whole: bool  # False: it is extreme, and only tags that matter to links were parsed
    is_cut: bool  # and not all of those
    size: int  # parsed bytes
    tags: int  # of the page, about; 0 = few


def document_of(html: str | bytes) -> Document:
    """The tree of this text, or its UTF-8, as browsers build it, in bounded time and memory for any page.

    With more than MAX_TAGS tags (MOST_TAGS, where elements are surely nested in few levels) only those that can matter
    to links are kept, and of these the first MOST_TAGS. Tags such as <i> that would be copied more than MAX_COPIES
    times lose their attributes. A tag with MAX_ATTRIBUTES attributes is dropped, and all unused attributes of a page
    with too many attribute names, and all null bytes if there are more than MAX_NULS. Of a long page with more than
    MAX_OPTIONS the lists are no lists.
    """
    whole = _without_overflow(html.encode("utf-8", "replace") if isinstance(html, str) else html)
    if b"\0" in whole and whole.count(b"\0") > MAX_NULS:  # to count takes thirty times as long
        whole = whole.replace(b"\0", b"")
    tags = _tags(whole)
    if tags > FEW_TAGS and len(_OPTION.findall(whole)) > MAX_OPTIONS:
        whole = _SELECT.sub(rb"\1x-select", whole)
    if _are_too_many(tags, whole):
        kept, is_cut = _beginning(_without_structure(whole))
        kept = few(_uncrowded(kept))
        return Document(LexborHTMLParser(kept), is_whole=False, is_cut=is_cut, size=len(kept), tags=tags)
    bounded = _bounded(whole, tags)
    return Document(LexborHTMLParser(bounded), bounded is whole, is_cut=False, size=len(bounded), tags=tags)


def _without_overflow(html: bytes) -> bytes:
    """The page with two character references decoded that become longer by that. The parser has no room for them: it
    writes behind the end of a buffer, which ends the process or worse."""
    for reference, text in _GROWING:
        if reference in html:
            html = html.replace(reference, text)
    return html


def is_parsed_whole(html: bytes) -> bool:
    """Whether `document_of` parses this page, which has no null byte and not too many tags, as it is."""
    return _bounded(html, _tags(html)) is html


def _tags(html: bytes) -> int:
    """0 = there are few."""
    return html.count(b"<") if len(html) > 6 * FEW_TAGS else 0


def _are_too_many(tags: int, html: bytes) -> bool:
    return tags > MAX_TAGS and (tags > MOST_TAGS or not is_shallow(html))


def _bounded(html: bytes, tags: int) -> bytes:
    """The page without what takes the parser too long; the page itself if there is nothing."""
    if tags > FEW_TAGS and _left_open(html) * tags > MAX_COPIES:
        html = _STYLED.sub(rb"<\1>", html)
    return few(_uncrowded(html))


def attribute(node: HasAttributes, name: str) -> str:
    """The attribute's value; "" when there is none, or it is written without one."""
    value: str | None = node.attrs.get(name)
    return value or ""


def collapsed(text: str, most: int) -> str:
    """At most `most` characters of this text, white space collapsed. Of a long text only that much is split."""
    return " ".join(text.split(None, most)[:most])[:most]


def _beginning(html: bytes) -> tuple[bytes, bool]:
    """The first MOST_TAGS tags, and whether there are more."""
    if html.count(b"<") <= MOST_TAGS:
        return html, False
    rest = html.split(b"<", MOST_TAGS + 1)[-1]
    return html[: len(html) - len(rest) - 1], True


def _uncrowded(html: bytes) -> bytes:
    """The page without crowded tags; the page itself when there are none."""
    if len(html) <= ATTRIBUTES_UNCHECKED_BELOW or not _may_be_crowded(html):
        return html
    uncrowded = _CROWDED_TAG.sub(lambda tag: b"" if tag["kept"] is None else tag[0], html)
    return html if len(uncrowded) == len(html) else uncrowded


def _may_be_crowded(html: bytes) -> bool:
    may_be = _QUOTED_TAG_END.search(html) or _has_long_gap(html, 2 * MAX_ATTRIBUTES)
    return bool(may_be and _MAY_BE_CROWDED.search(html))


def _has_long_gap(html: bytes, length: int) -> bool:
    """Whether so many bytes in a row have no ">"."""
    begin = 0
    while begin + length <= len(html):
        last = html.rfind(b">", begin, begin + length)
        if last == -1:
            return True
        begin = last + 1
    return False


def _without_structure(html: bytes) -> bytes:
    kept = _without(_STRUCTURE, html)
    return kept if kept.count(b"<") <= MAX_TAGS else _without(_ODD_STRUCTURE, kept)


def _without(tags: re.Pattern[bytes], html: bytes) -> bytes:
    """The page without these tags, none of which contains a further "<"; part by part, because `re` keeps all text
    between them until it is done: forty times the page."""
    parts, at = [], 0
    while at < len(html):
        end = html.find(b"<", at + _PART)
        end = len(html) if end == -1 else end
        parts.append(tags.sub(b"", html[at:end]))
        at = end
    return b"".join(parts)


def _left_open(html: bytes) -> int:
    """How many elements such as <i> are copied at most: unclosed ones, and three of those with equal attributes
    (https://html.spec.whatwg.org/#push-onto-the-list-of-active-formatting-elements)."""
    first = _MAY_BE_LEFT_OPEN.search(html)
    if not first:
        return 0
    found = _LEFT_OPEN.findall(html, first.start())  # both find the leftmost, so none is before it
    return sum(not attributes for _, attributes in found) + 3 * len({tag for tag in found if tag[1]})
