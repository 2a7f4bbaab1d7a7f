"""Whether the elements of a page are nested in few levels, which its tags alone say where they are written plainly."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

MAX_NESTING = 64
MAX_SHALLOW_OPTIONS = 100  # a parser walks through all elements of a list at each

_FOREIGN = frozenset({b"svg", b"math"})
_COUNTED = _FOREIGN | {b"option", b"plaintext"}
_VOID = frozenset(
    b"area base basefont bgsound br col embed hr img input keygen link meta param source track wbr".split()
)
_RAW = frozenset(b"iframe noembed noframes script style textarea title xmp".split())

_TOKEN = re.compile(
    rb"""<(?:
        (?P<slash>/?)(?P<name>[a-zA-Z][^ \t\n\r\f/<>"'=]*+)
            (?:[ \t\n\r\f/]++(?:[^ \t\n\r\f/<>"'=]++
                (?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^ \t\n\r\f<>"'=]++(?=[ \t\n\r\f>])))?+)?+)*+>
        |!--(?!-?>)(?P<comment>(?s:.*?))-->
        |!(?!--|\[CDATA\[)[^>]*+>
        |\?[^>]*+>
        |(?![a-zA-Z/!?])
    )""",
    re.VERBOSE,
)
_END = {name: re.compile(rb"</(?i:%s)[ \t\n\r\f/>]" % name) for name in _RAW}


class _Tag(NamedTuple):
    is_end: bool
    name: bytes  # in lower case; b"" = no tag
    opens: bool  # an element that is closed by a tag


_compiled: Callable[[bytes], bool] | None = None


def use(compiled: Callable[[bytes], bool] | None) -> None:
    """Decide by this function from now on, which takes a tenth of the time; None = by the one below."""
    global _compiled  # noqa: PLW0603  # one for the process, as the extension is
    _compiled = compiled


def is_shallow(html: bytes) -> bool:
    """Whether no more than MAX_NESTING elements are open at any place of this page, or about twice as many with those
    that a parser adds (https://html.spec.whatwg.org/#parsing). False also when that is not certain.

    1. A start tag opens an element unless it is void. An end tag closes the last one, if that has its name; any other
       closes none. So at least those elements are counted that a parser has open.
    2. More than MAX_SHALLOW_OPTIONS, or a tag, comment or script that can be read in more than one way, makes the page
       uncertain.
    """
    return _compiled(html) if _compiled is not None else judged_shallow(html)


def judged_shallow(html: bytes) -> bool:
    """The same without the compiled page reader."""
    opened: list[bytes] = []
    known: dict[bytes, _Tag] = {}  # most tags of a page are written more than once
    options = 0
    foreign = 0  # open drawings and formulas, in which no element is void
    at = html.find(b"<")
    while at != -1:
        end = html.find(b">", at) + 1
        tag = known.get(html[at:end])
        if tag is None:
            token = _TOKEN.match(html, at)
            if token is None or b"--!>" in (token["comment"] or b""):
                return False
            end = token.end()
            tag = _tag_of(token)
            if tag.name:
                known[token[0]] = tag
        is_end, name, opens = tag
        if is_end:
            if opened and opened[-1] == name:
                opened.pop()
                foreign -= name in _FOREIGN
        elif opens or (foreign and name in _VOID):
            if len(opened) == MAX_NESTING:
                return False
            opened.append(name)
            if name in _COUNTED:
                options += name == b"option"
                foreign += name in _FOREIGN
                if name == b"plaintext" or options > MAX_SHALLOW_OPTIONS:
                    return False
        elif name in _RAW:
            stop = _END[name].search(html, end)
            if stop is None or foreign or b"<!--" in html[end : stop.start()]:
                return False
            end = stop.start()
        at = html.find(b"<", end)
    return True


def _tag_of(token: re.Match[bytes]) -> _Tag:
    name = (token["name"] or b"").lower()
    return _Tag(token["slash"] == b"/", name, bool(name) and name not in _VOID and name not in _RAW)
