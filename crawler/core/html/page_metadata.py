"""Page metadata for the reports, malformed links, directives to crawlers, and conflicts of canonical addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.html.document import Document, Element, HasAttributes, Node, attribute, collapsed
from crawler.core.html.scanned_page import ScannedElement, ScannedPage
from crawler.core.html.simhash import MAX_WORDS, sketch_of, words_of
from crawler.core.urls.normalise import normalise, resolve

# Malformed links.

MAX_MALFORMED = 100  # links of one page that are kept; the others are counted
MAX_HREF = 500  # characters kept of one

_TYPED = ("http", "https", "mailto", "javascript")  # common schemes that authors mistype
_OUTER = "".join(map(chr, range(0x21)))  # removed from both ends by the URL Standard
_INNER = str.maketrans("", "", "\t\r\n")  # and from the middle
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT_FOLLOWS = re.compile(r"\d{1,5}(?:[/?#]|$)")
_AUTHORITY = re.compile(
    r"(?:https?:)?[/\\]*(?:[^/\\?#]*@)?(\[[^\]/\\?#]*\]?|[^:/\\?#]*)(?::([^/\\?#]*))?",  # its host, its port
    re.IGNORECASE,
)
_MAX_EXAMINED = 2 * MAX_HREF  # characters of a link


class MalformedHref(msgspec.Struct, frozen=True, array_like=True):
    """A malformed link of a page."""

    written: str  # its href, at most MAX_HREF characters
    text: str = ""  # anchor text
    rel: str = ""  # "nofollow ugc sponsored", as far as it has them
    problem: str = ""  # a sentence; see `fetcher.page_result`


class HrefFault(StrEnum):
    """Why a link is malformed."""

    NO_HOST = "no_host"
    INVALID_HOST = "invalid_host"
    INVALID_PORT = "invalid_port"
    TOO_LONG = "too_long"  # than any URL of a page
    NO_SCHEME = "no_scheme"  # before a host and a port
    UNKNOWN_SCHEME = "unknown_scheme"


class HrefProblem(NamedTuple):
    """What is wrong with one link."""

    fault: HrefFault
    scheme: str = ""  # the unknown one
    is_base: bool = False  # it is the base of the page's links


def problem_of(reference: str, base: str) -> HrefProblem | None:
    """What is wrong with a link that is no URL of a page (`urls.normalise` returns None), with the `base` of its page.
    None when nothing is: it is for another program.

    1. A scheme of the web, or none: the URL Standard rejects it (its host or its port is invalid), or it is longer than
       any page's URL.
    2. A scheme that is nearly http, https, mailto or javascript ("htp", "hhtps") is mistyped. So is a host with a port
       in place of a scheme ("example.com:8080/x", "localhost:3000").
    3. Any other scheme (mailto, tel, ftp, data, whatsapp, a private one) is valid.
    """
    begun = reference[:_MAX_EXAMINED].lstrip(_OUTER).translate(_INNER)
    scheme = _SCHEME.match(begun)
    name = scheme[1].lower() if scheme else ""
    if scheme is None or name in ("http", "https"):
        if resolve(reference, base) is None:
            return HrefProblem(_refused(begun.rstrip(_OUTER)))
        return HrefProblem(HrefFault.TOO_LONG)
    if ("." in name or name == "localhost") and _PORT_FOLLOWS.match(begun, scheme.end()):
        return HrefProblem(HrefFault.NO_SCHEME)
    return HrefProblem(HrefFault.UNKNOWN_SCHEME, name) if _is_mistyped(name) else None


def _refused(reference: str) -> HrefFault:
    """The part of its authority that the URL Standard rejects; no other part can be invalid."""
    found = _AUTHORITY.match(reference)
    host, port = (found[1], found[2] or "") if found else ("", "")
    if not host:
        return HrefFault.NO_HOST
    is_port = not port or (port.isascii() and port.isdecimal() and int(port) <= 0xFFFF)
    return HrefFault.INVALID_HOST if is_port else HrefFault.INVALID_PORT


@lru_cache(maxsize=1000)
def _is_mistyped(name: str) -> bool:
    """Whether one edit (insert, delete, change, swap) makes it a common scheme; two if the first letter is right."""
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
MAX_HEADINGS = 20  # that are searched for text: they may be nested, and all contain the same text
MAX_INSECURE = 20  # resources over plain HTTP that are listed
MAX_ADDRESS = 2000  # characters of a loaded resource's address
DIGEST_BYTES = 16
_ASCII_BLANKS = bytes(range(0x09, 0x0E)) + bytes(range(0x1C, 0x21))  # that `str.strip` removes
PIECE = 1024 * 1024  # bytes or characters; longer data is processed in ways that need less memory

_UNSEEN = frozenset({"script", "style"})

AT_LARGE = f"h1, {', '.join(sorted(_UNSEEN))}"
"""The elements that `facts_of` needs besides those with links."""

_SOURCES = ("img", "script", "iframe", "audio", "video", "source", "track", "embed", "input")
_INSECURE = (
    f"[src^='http:' i]:is({', '.join(_SOURCES)}), object[data^='http:' i], link[rel~='stylesheet' i][href^='http:' i]"
)


_CSS_BLANKS = re.compile("[ \t\n\r\f]")  # between the words of an attribute, for ~=


class PageMetadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The metadata of one HTML page."""

    description: str = ""  # of the meta element, white space collapsed
    h1: str = ""  # the first
    h1_count: int | None = None  # None = not known: the page is too large
    canonical: str = ""  # normalised URL of the first link rel=canonical; "" = no valid one
    canonicals: int = 0  # links rel=canonical
    digest: bytes = b""  # of the visible text; b"" = there is none
    words: int | None = None  # of the visible text; None = not counted
    insecure: tuple[str, ...] = ()  # resources of an https page over http, the first MAX_INSECURE
    sketch: bytes = b""  # the simhash, for near-duplicates; b"" if not enabled
    fields: dict[str, Any] = {}  # name -> value, by the crawl's extraction rules
    notes: dict[str, str] = {}  # name -> why that field has no value, or not all of it
    malformed: tuple[MalformedHref, ...] = ()  # the first malformed links
    malformed_number: int = 0  # of malformed links


NOTHING = PageMetadata()


def facts_of(
    document: Document,
    at_large: Sequence[Element[LexborNode]],
    metas: Iterable[tuple[str, str]],
    base: str,
    url: str,
    *,
    sketches: bool = False,
) -> PageMetadata:
    """The metadata of the page at the normalised `url`. The tree is changed: no links can be read from it afterwards.
    `at_large` are the elements selected by AT_LARGE and `core.html.links`.

    1. The description is that of the first meta element of this name, the heading the first h1 with text, if it is
       one of the first MAX_HEADINGS.
    2. Visible text is that of the body without scripts and styles; noscript is visible, because scripts are not
       run. Its digest is BLAKE2b.
    3. Insecure are resources of an https page over http: pictures, scripts, frames, media and style sheets, as written
       (https://www.w3.org/TR/mixed-content/).
    4. With `sketches` the words of the visible text are counted and hashed, see `core.html.simhash`.
    """
    headings = [node for node, tag in at_large if tag == "h1"]
    unseen = [node for node, tag in at_large if tag in _UNSEEN]
    page = document.tree
    insecure = _insecure(page) if url.startswith("https:") else ()
    text = _visible_text(document, unseen)
    digest = _digest(text)
    spoken, count = words_of(page.body.text(separator=" "), MAX_WORDS) if sketches and page.body else (None, None)
    canonical, canonicals = _canonical_of(at_large, base)
    return PageMetadata(
        description=_description(metas),
        h1=_first_words(headings[:MAX_HEADINGS]),
        h1_count=len(headings) if document.is_whole else None,
        canonical=canonical,
        canonicals=canonicals,
        digest=digest,
        insecure=insecure,
        words=count,
        sketch=sketch_of(spoken) if spoken else b"",
    )


def facts_of_scanned(page: ScannedPage, metas: Iterable[tuple[str, str]], base: str, url: str) -> PageMetadata:
    """The same metadata of a page that was scanned, without sketch."""
    headings = [element.text for element in page.elements if element.tag == "h1"]
    canonical, canonicals = _canonical_of(((element, element.tag) for element in page.elements), base)
    return PageMetadata(
        description=_description(metas),
        h1=next(filter(None, headings[:MAX_HEADINGS]), ""),
        h1_count=len(headings),
        canonical=canonical,
        canonicals=canonicals,
        digest=_digest_of_bytes(page.body),
        insecure=_addresses([element for element in page.elements if _is_insecure(element)])
        if url.startswith("https:")
        else (),
    )


def _canonical_of(at_large: Iterable[Element[Node]], base: str) -> tuple[str, int]:
    """The first canonical address, and the number of its links."""
    links = [node for node, tag in at_large if tag == "link" and "canonical" in _words(attribute(node, "rel"))]
    return (normalise(attribute(links[0], "href"), base) or "") if links else "", len(links)


def _description(metas: Iterable[tuple[str, str]]) -> str:
    for name, content in metas:
        if name.strip().lower() == "description":
            return collapsed(content, MAX_DESCRIPTION)
    return ""


def _first_words(headings: Iterable[LexborNode]) -> str:
    return next((words for node in headings if (words := collapsed(node.text(), MAX_HEADING))), "")


def _visible_text(document: Document, unseen: Sequence[LexborNode]) -> str:
    body = document.tree.body
    for node in reversed(unseen):  # children before their parents, which remove them
        node.remove()
    if body is None:
        return ""
    # The former is faster, but keeps a copy of the text for the lifetime of the tree.
    return (body.text_lexbor() if document.size <= PIECE else body.text()).strip()


def _digest(text: str) -> bytes:
    if not text:
        return b""
    digest = blake2b(digest_size=DIGEST_BYTES)
    for at in range(0, len(text), PIECE):
        digest.update(text[at : at + PIECE].encode("utf-8", "replace"))
    return digest.digest()


def _digest_of_bytes(text: bytes) -> bytes:
    """The same of UTF-8 that may have white space around it."""
    text = text.strip(_ASCII_BLANKS)
    if text and (text[0] >= 0x80 or text[-1] >= 0x80):  # it may be other white space
        text = text.decode("utf-8", "replace").strip().encode()
    return blake2b(text, digest_size=DIGEST_BYTES).digest() if text else b""


def _insecure(page: LexborHTMLParser) -> tuple[str, ...]:
    return _addresses(page.css(_INSECURE))


def _is_insecure(element: ScannedElement) -> bool:
    """Whether _INSECURE selects this element of a page that was scanned."""
    match element.tag:
        case "link":
            words = _CSS_BLANKS.split(attribute(element, "rel").lower())
            return "stylesheet" in words and _is_http(attribute(element, "href"))
        case "object":
            return _is_http(attribute(element, "data"))
        case _:
            return element.tag in _SOURCES and _is_http(attribute(element, "src"))


def _is_http(address: str) -> bool:
    return address[:5].lower() == "http:"


def _addresses(nodes: Iterable[HasAttributes]) -> tuple[str, ...]:
    found = dict.fromkeys(
        (attribute(node, "href") or attribute(node, "src") or attribute(node, "data"))[:MAX_ADDRESS] for node in nodes
    )
    return tuple(found)[:MAX_INSECURE]


def _words(rel: str) -> list[str]:
    return rel.lower().split()


# Directives to crawlers: meta robots, X-Robots-Tag, and rel of links.

NOINDEX, NOFOLLOW = "noindex", "nofollow"
MAX_RECORDED = 500  # characters
MAX_CONTENT = 100_000  # characters of one meta element that are read
MAX_DIRECTIVES = 10_000  # words read of one page, approximately

_ALL_CRAWLERS = "robots"
_NONE = (NOINDEX, NOFOLLOW)
_OPPOSITES = frozenset({"all", "index", "follow"})  # the defaults; a stricter word overrides them
_WITH_VALUE = frozenset({"max-snippet", "max-image-preview", "max-video-preview"})
_UNTIL = "unavailable_after"
_RELATIONS = ("nofollow", "ugc", "sponsored")
_TOKEN = re.compile(
    rf"""({_UNTIL})\s*:\s*([^,]*(?:,\s*[0-9][^,]*)?)  # a date, which may have a comma after its weekday
        |([^\s,:]+)\s*:\s*([^\s,]*)  # max-snippet:20, or googlebot: noindex
        |([^\s,:]+)""",
    re.IGNORECASE | re.VERBOSE,
)


class Directives(msgspec.Struct, frozen=True):
    """The directives of a page, of all sources."""

    noindex: bool = False
    nofollow: bool = False
    text: str = ""  # separated by blanks: "noindex nofollow" first, then the others in order


NO_DIRECTIVES = Directives()


def directives_of(metas: Iterable[tuple[str, str]], headers: Iterable[str], user_agent_token: str) -> Directives:
    """The directives of the meta elements (name, content) and of X-Robots-Tag headers for the crawler of this product
    token.

    1. Names are compared without regard to case. Directives for all crawlers count, and those for ours.
    2. "none" is "noindex nofollow"; "all", "index" and "follow" are the defaults.
    3. Other words are recorded. `unavailable_after` is one of them: it concerns search indexes.
    4. Text beyond MAX_CONTENT and MAX_DIRECTIVES is ignored.
    """
    ours = (_ALL_CRAWLERS, user_agent_token.lower())
    found: dict[str, None] = {}
    for name, content in metas:
        if name.strip().lower() in ours and len(found) < MAX_DIRECTIVES:
            found.update(dict.fromkeys(_words_of_meta(content[:MAX_CONTENT])))
    for value in headers:
        found.update(dict.fromkeys(_words_of_header(value, ours)))
    return _recorded(found) if found else NO_DIRECTIVES


def recorded(text: str, word: str) -> bool:
    """Whether a recorded text (`Directives.text`) contains this word."""
    return word in text.split()


def rel_of(value: str) -> str:
    """The words of a rel attribute that concern crawlers: some of "nofollow ugc sponsored", in that order."""
    words = value.lower().split()
    return " ".join([relation for relation in _RELATIONS if relation in words])


def _recorded(directives: Iterable[str]) -> Directives:
    words = {
        word: None for one in directives for word in (_NONE if one == "none" else (one,)) if word not in _OPPOSITES
    }
    first = [word for word in _NONE if word in words]
    text = " ".join([*first, *(word for word in words if word not in _NONE)])
    return Directives(NOINDEX in words, NOFOLLOW in words, _cut(text))


def _cut(text: str) -> str:
    """The whole words that fit into MAX_RECORDED: part of a word could be another directive."""
    if len(text) <= MAX_RECORDED:
        return text
    return text[: MAX_RECORDED + 1].rpartition(" ")[0] or text[:MAX_RECORDED]


def _words_of_meta(content: str) -> Iterator[str]:
    for until, date, key, value, word in _TOKEN.findall(content):
        yield _word(until or key or word, date or value)


def _words_of_header(header: str, ours: tuple[str, ...]) -> Iterator[str]:
    """ "noindex, otherbot: nofollow, noarchive": noindex is for all crawlers, the rest only for otherbot."""
    applies = True
    for until, date, key, value, word in _TOKEN.findall(header):
        names_crawler = key and key.lower() not in _WITH_VALUE
        if names_crawler:
            applies = key.lower().partition("/")[0] in ours
        if applies and (value or not names_crawler):
            yield _word(value, "") if names_crawler else _word(until or key or word, date or value)


def _word(name: str, value: str) -> str:
    """Lower case, without blanks, because the recorded text is split at blanks."""
    return f"{name}:{'_'.join(value.split())}".lower() if value else name.lower()


# Conflicts of canonical addresses (RFC 6596).


class CanonicalProblem(StrEnum):
    """A problem of a canonical address; the value is written to exports."""

    SEVERAL = "several"  # the page has more than one
    TO_ERROR = "to_error"  # its target is an error, or does not exist
    TO_REDIRECT = "to_redirect"
    TO_FORBIDDEN = "to_forbidden"  # robots.txt forbids its target
    TO_NOINDEX = "to_noindex"
    LOOP = "loop"  # the canonical address of its target leads back to this page
    CHAIN = "chain"  # its target has another canonical address


def follows(url: str, elsewhere: Mapping[str, str]) -> CanonicalProblem | None:
    """The conflict of a page with another canonical address; `elsewhere` has that of each such page."""
    seen = {url}
    here = elsewhere[url]
    hops = 1
    while here in elsewhere and here not in seen:
        seen.add(here)
        here = elsewhere[here]
        hops += 1
    if here == url:
        return CanonicalProblem.LOOP
    return CanonicalProblem.CHAIN if hops > 1 else None
