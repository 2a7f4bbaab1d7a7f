"""Page metadata for the reports (description, heading, canonical address, content), and directives to crawlers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.html.document import Document, attribute, collapsed
from crawler.core.html.simhash import MOST_WORDS, sketch_of, words_of
from crawler.core.urls.normalise import MAX_URL_LENGTH, normalise, resolve

# Links that lead nowhere because of how they are written: which these are, and what is wrong with each.

MAX_MALFORMED = 100  # links of one page that are kept; the others are counted
MAX_HREF = 500  # characters kept of one

_TYPED = ("http", "https", "mailto", "javascript")  # schemes that are written often enough to be mistyped
_OUTER = "".join(map(chr, range(0x21)))  # what the URL Standard takes off both ends
_INNER = str.maketrans("", "", "\t\r\n")  # and out of the middle
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT_FOLLOWS = re.compile(r"\d{1,5}(?:[/?#]|$)")
_AUTHORITY = re.compile(
    r"(?:https?:)?[/\\]*(?:[^/\\?#]*@)?(\[[^\]/\\?#]*\]?|[^:/\\?#]*)(?::([^/\\?#]*))?",  # its host, its port
    re.IGNORECASE,
)
_LOOKED_AT = 2 * MAX_HREF  # characters of a link that say what is wrong with it


class Malformed(msgspec.Struct, frozen=True, array_like=True):
    """One such link of a page."""

    written: str  # its href, at most MAX_HREF characters
    text: str = ""  # the words it is written with
    rel: str = ""  # "nofollow ugc sponsored", as far as it has them
    problem: str = ""


def problem_of(reference: str, base: str) -> str:
    """What is wrong with a link that no page can have as its URL (`urls.normalise` says None), found on a page whose
    links are resolved against `base`. "" when nothing is: it is for another program.

    1. A scheme of the web, or none: the URL Standard refuses it (its host or its port cannot be), or it is longer than
       any page's URL.
    2. A scheme that is nearly http, https, mailto or javascript ("htp", "hhtps") is mistyped. So is a host with a port
       in the place of a scheme ("example.com:8080/x", "localhost:3000").
    3. Any other scheme (mailto, tel, ftp, data, whatsapp, one of somebody's own) is right as it is.
    """
    begun = reference[:_LOOKED_AT].lstrip(_OUTER).translate(_INNER)
    scheme = _SCHEME.match(begun)
    name = scheme[1].lower() if scheme else ""
    if scheme is None or name in ("http", "https"):
        if resolve(reference, base) is None:
            return f"not a valid URL: {_refused(begun.rstrip(_OUTER))}"
        return f"longer than {MAX_URL_LENGTH:,} characters"
    if ("." in name or name == "localhost") and _PORT_FOLLOWS.match(begun, scheme.end()):
        return "no scheme before host and port"
    return f"unknown scheme {name}" if _is_mistyped(name) else ""


def _refused(reference: str) -> str:
    """Which part of its authority the URL Standard refuses; no other part can be wrong."""
    found = _AUTHORITY.match(reference)
    host, port = (found[1], found[2] or "") if found else ("", "")
    if not host:
        return "no host"
    is_port = not port or (port.isascii() and port.isdecimal() and int(port) <= 0xFFFF)
    return "invalid host" if is_port else "invalid port"


@lru_cache(maxsize=1000)
def _is_mistyped(name: str) -> bool:
    """Whether one letter more, less, changed or swapped makes a common scheme of it; two if the first is right."""
    return name not in _TYPED and any(
        abs(len(name) - len(typed)) <= 2 and _slips(name, typed) <= (2 if name[0] == typed[0] else 1)
        for typed in _TYPED
    )


def _slips(one: str, other: str) -> int:
    """The optimal string alignment distance."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        last, before, row = before, row, [at]
        for place, wanted in enumerate(other, 1):
            least = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != wanted))
            if at > 1 and place > 1 and (letter, one[at - 2]) == (other[place - 2], wanted):
                least = min(least, last[place - 2] + 1)
            row.append(least)
    return row[-1]


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
    afterwards. `at_large` are its elements that AT_LARGE and `core.html.links` ask for.

    1. The description is that of the first meta element of this name, the heading the first h1 with words in it, if
       that is one of the first MAX_HEADINGS.
    2. Visible text is that of the body without scripts and styles; noscript is seen, because we run no scripts. Its
       digest is BLAKE2b.
    3. Insecure is what an https page loads over http: pictures, scripts, frames, media and style sheets, as written
       (https://www.w3.org/TR/mixed-content/).
    4. Equal texts of pages with fewer than LITTLE_TEXT characters say little where pictures or scripts say the rest.
    5. With `sketches` the words of the visible text are counted, and a sketch is made of them, see `core.html.simhash`.
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


# What a page asks of crawlers beside robots.txt: meta robots, X-Robots-Tag, and rel on its links.

NOINDEX, NOFOLLOW = "noindex", "nofollow"
MAX_RECORDED = 500  # characters
MAX_SAID = 100_000  # characters of one meta element that are read
MAX_WORDS = 10_000  # that are read of one page, about

_EVERYONE = "robots"
_NONE = (NOINDEX, NOFOLLOW)
_OPPOSITES = frozenset({"all", "index", "follow"})  # what is so anyway; the stricter word wins beside it
_WITH_VALUE = frozenset({"max-snippet", "max-image-preview", "max-video-preview"})
_UNTIL = "unavailable_after"
_RELATIONS = ("nofollow", "ugc", "sponsored")
_TOKEN = re.compile(
    rf"""({_UNTIL})\s*:\s*([^,]*(?:,\s*[0-9][^,]*)?)  # a date, which may have a comma behind its day of the week
        |([^\s,:]+)\s*:\s*([^\s,]*)  # max-snippet:20, or googlebot: noindex
        |([^\s,:]+)""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Directives:
    """What a page asks for, everything said of it taken together."""

    noindex: bool = False
    nofollow: bool = False
    text: str = ""  # for the record, separated by blanks: "noindex nofollow" first, then the others as they came


NO_DIRECTIVES = Directives()


def directives_of(metas: Iterable[tuple[str, str]], headers: Iterable[str], user_agent_token: str) -> Directives:
    """What the meta elements (name, content) and the values of X-Robots-Tag headers ask of the crawler of this product
    token.

    1. Names are compared in any case. What is said to all crawlers counts, and what is said to ours; the rest does not.
    2. "none" is "noindex nofollow"; "all", "index" and "follow" are what is so anyway.
    3. Other words are kept for the record. `unavailable_after` is one of them: it speaks of a search index.
    4. Beyond MAX_SAID and MAX_WORDS nobody says anything that is meant.
    """
    ours = (_EVERYONE, user_agent_token.lower())
    said: dict[str, None] = {}
    for name, content in metas:
        if name.strip().lower() in ours and len(said) < MAX_WORDS:
            said.update(dict.fromkeys(_words_of_meta(content[:MAX_SAID])))
    for value in headers:
        said.update(dict.fromkeys(_words_of_header(value, ours)))
    return _recorded(said) if said else NO_DIRECTIVES


def recorded(text: str, word: str) -> bool:
    """Whether this word stands in the text of a record (`Directives.text`)."""
    return word in text.split()


def rel_of(value: str) -> str:
    """Of a rel attribute, what keeps crawlers from following: some of "nofollow ugc sponsored", in that order."""
    words = value.lower().split()
    return " ".join([relation for relation in _RELATIONS if relation in words])


def _recorded(said: Iterable[str]) -> Directives:
    words = {word: None for one in said for word in (_NONE if one == "none" else (one,)) if word not in _OPPOSITES}
    first = [word for word in _NONE if word in words]
    text = " ".join([*first, *(word for word in words if word not in _NONE)])
    return Directives(NOINDEX in words, NOFOLLOW in words, _cut(text))


def _cut(text: str) -> str:
    """As many whole words as may be recorded: of a longer one, what is left could be a directive nobody gave."""
    if len(text) <= MAX_RECORDED:
        return text
    return text[: MAX_RECORDED + 1].rpartition(" ")[0] or text[:MAX_RECORDED]


def _words_of_meta(content: str) -> Iterator[str]:
    for until, date, key, value, word in _TOKEN.findall(content):
        yield _word(until or key or word, date or value)


def _words_of_header(header: str, ours: tuple[str, ...]) -> Iterator[str]:
    """ "noindex, otherbot: nofollow, noarchive" says noindex to all, and the rest to otherbot alone."""
    meant = True
    for until, date, key, value, word in _TOKEN.findall(header):
        names_crawler = key and key.lower() not in _WITH_VALUE
        if names_crawler:
            meant = key.lower().partition("/")[0] in ours
        if meant and (value or not names_crawler):
            yield _word(value, "") if names_crawler else _word(until or key or word, date or value)


def _word(name: str, value: str) -> str:
    """Lower case, without blanks: a record is read word by word."""
    return f"{name}:{'_'.join(value.split())}".lower() if value else name.lower()


# What can be wrong with the canonical address that a page names (RFC 6596).


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
