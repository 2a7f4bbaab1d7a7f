"""Extraction of a page's links, title, meta elements and metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate, islice
from typing import NamedTuple

import msgspec
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.html import page_metadata
from crawler.core.html.document import Document, Element, Node, attribute, collapsed, document_of
from crawler.core.html.link_codec import NO_OCCURRENCES, Occurrences
from crawler.core.html.page_metadata import (
    MAX_HREF,
    MAX_MALFORMED,
    HrefProblem,
    MalformedHref,
    PageMetadata,
    problem_of,
    rel_of,
)
from crawler.core.html.scanned_page import ScannedElement, ScannedPage, scan
from crawler.core.urls.normalise import linker, normalise

MAX_LINKS = 20_000  # targets of one page; further ones are dropped
MAX_CHARACTERS = 2_000_000  # of all targets of one page: with a long <base> a few bytes of HTML make a long URL
MAX_METAS = 1000  # that are read
MAX_TITLE = 500  # characters
MAX_TEXT = 100  # characters of an anchor text
MAX_WORDS = MAX_LINKS * MAX_TEXT  # characters of all anchor texts of one page
MAX_NODES = 100  # of a link without text that are searched for a picture
MAX_TEXT_RATIO = 4  # characters of all anchor texts that are read, per byte of the page
MAX_NESTED_LINKS = 8  # HTML does not allow a link in a link
_SAMPLE_INTERVAL = 64  # elements; one of so many is checked for nesting

# Every element is compared with each alternative of a query, so there are few; the attribute comes first, because most
# elements do not have it.
_SOUGHT = f"[href]:is(a, area, base, link[rel]), [src]:is(iframe, frame), meta[content], {page_metadata.AT_LARGE}"
_WITH_REL = frozenset({"a", "area"})
_FOLLOWED_RELATIONS = frozenset({"next", "prev", "alternate", "canonical"})
# https://html.spec.whatwg.org/#shared-declarative-refresh-steps
_REFRESH = re.compile(
    r"""\s*[\d.]+(?=[;,\s])\s*[;,]?\s*(?:url\s*=\s*)?(?:(["'])(.*?)(?:\1|\Z)|(.*))""",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)


class LinksCut(StrEnum):
    """Which limit was exceeded by the links of a page; the rest of them is missing."""

    LINKS = "links"  # MAX_LINKS
    CHARACTERS = "characters"  # MAX_CHARACTERS
    TAGS = "tags"  # MOST_TAGS
    ANCHOR_TEXTS = "anchor_texts"  # MAX_WORDS; only texts are missing


class PageContent(msgspec.Struct, frozen=True):
    """What was read from one page."""

    title: str  # white space collapsed, at most MAX_TITLE characters; "" when there is none
    links: tuple[str, ...]  # normalised URLs, each once, in order of appearance: the targets of all links
    occurrences: Occurrences  # every link to them; anchor texts of at most MAX_TEXT characters
    rels: dict[str, str]  # link -> "nofollow ugc sponsored", of links that always have one of these
    metas: tuple[tuple[str, str], ...]  # name and content of the meta elements, for `core.html.page_metadata`
    facts: PageMetadata  # without `malformed`
    cut: LinksCut | None = None  # why some of its links are missing; None = none is
    malformed: tuple[tuple[MalformedHref, HrefProblem], ...] = ()  # the first; `facts` has the number of all


NOTHING = PageContent("", (), NO_OCCURRENCES, {}, (), page_metadata.NOTHING)


def read_page(html: bytes, url: str, *, sketches: bool = False, compiled: bool = True) -> PageContent:
    """What `extract` returns for this page, in UTF-8: by one compiled pass where that says the same as its tree. Not
    `compiled`, the tree is always built."""
    page = scan(html) if compiled and not sketches else None
    content = read_scanned(page, url) if page is not None else None
    return content or extract(html, url, sketches=sketches)


def extract(html: str | bytes | Document, url: str, *, sketches: bool = False) -> PageContent:
    """Title and links of the page `html` (text, its UTF-8, or parsed) that was found at the normalised `url`.

    1. Links are: href of a and area; src of iframe and frame; href of link with rel next, prev, alternate (unless it is
       a style sheet) or canonical; the URL of a meta refresh. An empty href of a and area is a link to the base.
    2. They are resolved against the first <base href>, or the page's URL when there is no valid one.
    3. Comments and the contents of script, style, template and textarea contain no links; noscript does, because
       scripts are not run. Links with rel=nofollow are links; the rel is returned with them.
    """
    document = html if isinstance(html, Document) else document_of(html)
    page = document.tree
    nodes = page.css(_SOUGHT)  # one query is faster than one for each element
    tags = [node.tag for node in nodes]  # read once: each time, it is decoded
    at_large = [element for element in zip(nodes, tags, strict=True) if element[1] != "a"]
    broken = _MalformedLinks()
    base, metas = _base_and_metas(at_large, url, broken)
    # The latter is faster, but keeps a copy of the text for the lifetime of the tree.
    read = LexborNode.text if document.size > page_metadata.PIECE else LexborNode.text_lexbor
    reader = _Reader(read, 0 if _are_nested(nodes) else MAX_TEXT_RATIO * document.size)
    found = _links_of(zip(nodes, tags, strict=True), base, reader, broken)
    title = _title_of(page)
    facts = page_metadata.facts_of(document, at_large, metas, base, url, sketches=sketches)
    if broken.number:
        facts = replace(facts, malformed_number=broken.number)
    cut = found.cut or (LinksCut.TAGS if document.is_cut else None)
    links, rels = tuple(found.targets), _always_with_rel(found)
    return PageContent(title, links, found.occurrences, rels, metas, facts, cut, tuple(broken.links))


def read_scanned(page: ScannedPage, url: str) -> PageContent | None:
    """What `extract` returns for a page that was scanned; None if that needs the tree: the page has malformed links, or
    too many."""
    broken = _MalformedLinks()
    base, metas = _base_and_metas(((element, element.tag) for element in page.elements), url, broken)
    found = None if broken.number else _ScannedLinks(page, base).read()
    if found is None:
        return None
    title = next((element.text for element in page.elements if element.tag == "title"), "")
    facts = page_metadata.facts_of_scanned(page, metas, base, url)
    return PageContent(title, tuple(found.targets), found.occurrences, _always_with_rel(found), metas, facts)


def with_links(page: PageContent, urls: Sequence[str]) -> PageContent:
    """The same page with further links, which have no text."""
    new = [url for url in dict.fromkeys(urls) if url not in set(page.links)]
    if not new:
        return page
    places, texts, rels = page.occurrences
    added = range(len(page.links), len(page.links) + len(new))
    occurrences = Occurrences([*places, *added], [*texts, *("" for _ in new)], rels)
    return replace(page, links=(*page.links, *new), occurrences=occurrences)


def _title_of(page: LexborHTMLParser) -> str:
    """The first title of the document, like `document.title`; one inside an SVG names a drawing."""
    children = page.head.iter() if page.head else ()
    title = next((node for node in children if node.tag == "title"), None)  # a query takes three times as long
    title = title or page.css_first("title:not(svg title)")
    return collapsed(title.text(), MAX_TITLE) if title else ""


@dataclass(slots=True)
class _MalformedLinks:
    """The malformed links of a page."""

    links: list[tuple[MalformedHref, HrefProblem]] = field(default_factory=list)  # the first of them
    number: int = 0  # of all

    def add(self, written: str, text: str, rel: str, problem: HrefProblem) -> None:
        self.number += 1
        if len(self.links) < MAX_MALFORMED:
            self.links.append((MalformedHref(written[:MAX_HREF], text, rel), problem))


def _base_and_metas(
    elements: Iterable[Element[Node]], url: str, broken: _MalformedLinks
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The base of the page's links, and its meta elements by name."""
    base: str | None = None
    metas: list[tuple[str, str]] = []
    for node, tag in elements:
        if tag == "meta" and len(metas) < MAX_METAS:
            attributes = node.attributes
            if "name" in attributes:
                metas.append((attributes["name"] or "", attributes.get("content") or ""))
        elif tag == "base" and base is None:
            written = attribute(node, "href")
            base = normalise(written, url)
            if base is None and (problem := problem_of(written, url)):
                broken.add(written, "", "", problem._replace(is_base=True))
            base = base or url
    return base or url, tuple(metas)


def _are_nested(nodes: list[LexborNode]) -> bool:
    """Whether the links of a page are nested, as they can be in an SVG or an object: the content of ten thousand nested
    links would be read ten thousand times."""
    return any(_depth(node) > MAX_NESTED_LINKS for node in nodes[_SAMPLE_INTERVAL::_SAMPLE_INTERVAL])


def _depth(node: LexborNode) -> int:
    """How many links contain it; no more than MAX_NESTED_LINKS + 1 are counted."""
    depth, at = 0, node.parent
    while at is not None and depth <= MAX_NESTED_LINKS:
        depth += at.tag == "a"
        at = at.parent
    return depth


class _Reader(NamedTuple):
    """How anchor texts are read. Some elements allow a link in a link: the text of thousands of nested links would be
    read thousands of times."""

    read: Callable[[LexborNode], str]
    room: int  # characters, of all links together


class _LinkTargets(NamedTuple):
    """The links of a page."""

    targets: Iterable[str]  # each once
    occurrences: Occurrences
    cut: LinksCut | None  # why some are missing


_OTHER, _BROKEN, _CUT = -1, -2, -3  # in place of a place: not a page; malformed; the page has too many targets


class _Targets:
    """The targets of a page's links, each once, up to the bounds of a page."""

    def __init__(self, base: str) -> None:
        self.urls: dict[str, int] = {}  # with their places
        self.problems: dict[str, HrefProblem] = {}  # malformed reference -> why
        self.cut: LinksCut | None = None  # why some are missing
        self._base, self._to_link, self._room = base, linker(base), MAX_CHARACTERS

    def place_of(self, reference: str) -> int:
        """The index of its target; or _OTHER, _BROKEN or _CUT."""
        link = self._to_link(reference)
        if link is None:
            problem = problem_of(reference, self._base)
            if not problem:
                return _OTHER
            self.problems[reference] = problem
            return _BROKEN
        place = self.urls.get(link)
        if place is None:
            self._room -= len(link)
            place = len(self.urls)
            if self._room < 0 or place == MAX_LINKS:
                self.cut = LinksCut.CHARACTERS if self._room < 0 else LinksCut.LINKS
                return _CUT
            self.urls[link] = place
        return place


def _links_of(
    elements: Iterable[Element[LexborNode]], base: str, reader: _Reader, broken: _MalformedLinks
) -> _LinkTargets:
    """Every link among these elements; malformed ones are added to `broken`."""
    targets = _Targets(base)
    places, texts, rels = list[int](), list[str](), dict[int, str]()
    # The beginnings of references, up to their "#", with the places of their targets: a table of contents links to one
    # page a hundred times. Those with a "#" are apart: blanks before it belong to the URL, blanks at the end do not.
    with_mark, without = dict[str, int](), dict[str, int]()
    read, words_room = reader
    for node, tag in elements:
        attributes = node.attributes  # reading all takes less time than two by name
        written = (tag == "a" and attributes.get("href")) or _reference_in(tag, attributes)
        if written is None:
            continue
        begun, mark, _ = written.partition("#")
        seen = with_mark if mark else without
        place = seen.get(begun)
        if place is None:
            place = seen[begun] = targets.place_of(begun + mark)
        if place == _CUT:
            break
        if place == _OTHER:
            continue
        text = ""
        if words_room > 0:
            raw = read(node)
            words_room -= len(raw)
            text = " ".join(raw.split()) if len(raw) <= MAX_TEXT else collapsed(raw, MAX_TEXT)
            if not text and words_room > 0 and node.first_child is not None:
                text = _picture_in(node)
        rel = rel_of(attributes["rel"] or "") if "rel" in attributes and tag in _WITH_REL else ""
        if place == _BROKEN:
            broken.add(written, text, rel, targets.problems[begun + mark])
            continue
        if rel:
            rels[len(places)] = rel
        places.append(place)
        texts.append(text)
    cut = targets.cut
    if _are_too_long(texts):
        texts, cut = _bounded(texts), cut or LinksCut.ANCHOR_TEXTS
    return _LinkTargets(targets.urls, Occurrences(places, texts, rels), cut)


class _ScannedLinks:
    """The links of a page that was scanned. Those of <a> are read many at a time, between two other links."""

    def __init__(self, page: ScannedPage, base: str) -> None:
        self._page, self._targets = page, _Targets(base)
        self._known: list[int] = []  # reference -> its place
        self._places, self._texts, self._rels = list[int](), list[str](), dict[int, str]()

    def read(self) -> _LinkTargets | None:
        """None if one is malformed, or there are too many."""
        at = 0
        for element in self._page.elements:
            written = _reference_in(element.tag, element.attributes)
            if written is None:
                continue
            self._read_anchors(at, element.position)
            at = element.position
            self._read_other(written, element)
        self._read_anchors(at, len(self._page.numbers))
        if self._targets.problems or self._targets.cut or _are_too_long(self._texts):
            return None
        return _LinkTargets(self._targets.urls, Occurrences(self._places, self._texts, self._rels), None)

    def _read_other(self, written: str, element: ScannedElement) -> None:
        begun, mark, _ = written.partition("#")
        place = self._targets.place_of(begun + mark)
        if place < 0:
            return
        rel = rel_of(attribute(element, "rel")) if element.tag in _WITH_REL else ""
        if rel:
            self._rels[len(self._places)] = rel
        self._places.append(place)
        self._texts.append(element.text)

    def _read_anchors(self, begin: int, end: int) -> None:
        if begin == end:
            return
        numbers, texts, known = self._page.numbers[begin:end], self._page.texts[begin:end], self._known
        known.extend(map(self._targets.place_of, self._page.references[len(known) : max(numbers) + 1]))
        places = [known[number] for number in numbers]
        rels = self._rels_between(begin, end)
        if min(places) < 0:  # not all are links to pages
            kept = [at for at, place in enumerate(places) if place >= 0]
            places, texts = [places[at] for at in kept], [texts[at] for at in kept]
            rels = {new: rels[at] for new, at in enumerate(kept) if at in rels}
        self._rels.update((len(self._places) + at, rel) for at, rel in rels.items())
        self._places += places
        self._texts += texts

    def _rels_between(self, begin: int, end: int) -> dict[int, str]:
        """The rels of these links, counted from the first of them."""
        written = self._page.rels
        among = written if len(written) < end - begin else range(begin, end)  # all parts together take linear time
        return {at - begin: rel for at in among if begin <= at < end and at in written and (rel := rel_of(written[at]))}


def _are_too_long(texts: list[str]) -> bool:
    return len(texts) > MAX_LINKS and sum(map(len, texts)) > MAX_WORDS


def _bounded(texts: list[str]) -> list[str]:
    """The texts of the first links, up to MAX_WORDS characters; "" for the others."""
    sums = accumulate(map(len, texts))
    return [text if together <= MAX_WORDS else "" for text, together in zip(texts, sums, strict=True)]


def _always_with_rel(found: _LinkTargets) -> dict[str, str]:
    """Target -> the first rel, of targets whose links all have one."""
    places, _, rels = found.occurrences
    if not rels:
        return {}
    away = dict[int, str]()
    for link, rel in rels.items():
        away.setdefault(places[link], rel)
    near = {place for link, place in enumerate(places) if place in away and link not in rels}
    return {url: away[place] for place, url in enumerate(found.targets) if place in away and place not in near}


def _picture_in(node: LexborNode) -> str:
    """The alt text of the first picture. A CSS query takes ten times as long."""
    for inner in islice(node.traverse(), MAX_NODES):
        if inner.tag == "img" and "alt" in inner.attrs:
            return collapsed(attribute(inner, "alt"), MAX_TEXT)
    return ""


def _reference_in(tag: str | None, attributes: Mapping[str, str | None]) -> str | None:
    """The reference of this element, as written; None when it is not a link."""
    match tag:
        case "a" | "area":
            return attributes.get("href") or attributes.get("xlink:href") or ""  # the latter in an SVG
        case "iframe" | "frame":
            return attributes.get("src") or None  # an empty frame shows about:blank
        case "link":
            return _followed(attributes)
        case "meta" if (attributes.get("http-equiv") or "").lower() == "refresh":
            return _refresh_target(attributes.get("content") or "")
        case _:
            return None


def _followed(attributes: Mapping[str, str | None]) -> str | None:
    relations = frozenset((attributes.get("rel") or "").lower().split())
    if relations.isdisjoint(_FOLLOWED_RELATIONS) or "stylesheet" in relations:
        return None
    return attributes.get("href") or None


def _refresh_target(content: str) -> str | None:
    match = _REFRESH.match(content)
    if match is None:
        return None
    return match[2] or match[3] or None  # without a URL the page reloads itself
