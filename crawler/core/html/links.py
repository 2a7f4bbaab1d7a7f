"""What is read of a page: what it links to, what it is called, what it says to crawlers and of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import NamedTuple

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.html import page_metadata
from crawler.core.html.document import MOST_TAGS, Document, attribute, collapsed, document_of
from crawler.core.html.link_codec import NO_OCCURRENCES, Occurrences
from crawler.core.html.page_metadata import MAX_HREF, MAX_MALFORMED, Facts, Malformed, problem_of, rel_of
from crawler.core.urls.normalise import linker, normalise

MAX_LINKS = 20_000  # targets kept of one page; what follows is dropped
MAX_CHARACTERS = 2_000_000  # of all targets of one page: with a long <base> a few bytes of HTML are a long URL
MAX_METAS = 1000  # that are looked at for what they say
MAX_TITLE = 500  # characters
MAX_TEXT = 100  # characters of the words a link is written with
MAX_WORDS = MAX_LINKS * MAX_TEXT  # characters of the words of all links of one page
MAX_NODES = 100  # of a link without words that are looked through for a picture
TOO_MANY = f"it has more than {MAX_LINKS:,} links; the rest was not read"
TOO_WORDY = f"the words of its links have more than {MAX_WORDS:,} characters together; the rest was not kept"
TOO_MANY_TAGS = f"it has more than {MOST_TAGS:,} tags that may be links; the rest was not read"
TOO_LONG = f"its links have more than {MAX_CHARACTERS:,} characters together; the rest was not read"

ROOM = 4  # times as many characters as a page has are read of its links
NESTED = 8  # links in one another, at the most; by HTML's own rules there are no two
_SAMPLED = 64  # every so many elements one is looked at, whether it lies in links

_LINKS = "a[href], area[href], iframe[src], frame[src], link[rel][href]"
_SOUGHT = f"{_LINKS}, base[href], meta[content], {page_metadata.AT_LARGE}"
_WITH_REL = frozenset({"a", "area"})
_FOLLOWED_RELATIONS = frozenset({"next", "prev", "alternate", "canonical"})
# https://html.spec.whatwg.org/#shared-declarative-refresh-steps
_REFRESH = re.compile(
    r"""\s*[\d.]+(?=[;,\s])\s*[;,]?\s*(?:url\s*=\s*)?(?:(["'])(.*?)(?:\1|\Z)|(.*))""",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was read from one page."""

    title: str  # white space collapsed, at most MAX_TITLE characters; "" when there is none
    links: tuple[str, ...]  # normalised URLs, each once, in order of appearance: the targets of all links
    occurrences: Occurrences  # every link to them; words of at most MAX_TEXT characters
    rels: dict[str, str]  # link -> "nofollow ugc sponsored", of those that are never linked to without any of these
    metas: tuple[
        tuple[str, str], ...
    ]  # name and content of the meta elements that have both, for `core.html.page_metadata`
    facts: Facts
    cut: str = ""  # why some of its links are not here; "" = all are


NOTHING = Extracted("", (), NO_OCCURRENCES, {}, (), page_metadata.NOTHING)


def extract(html: str | bytes | Document, url: str, *, sketches: bool = False) -> Extracted:
    """Title and links of the page `html` (text, its UTF-8, or parsed) that was found at the normalised `url`.

    1. Links are: href of a and area; src of iframe and frame; href of link with rel next, prev, alternate (unless it is
       a style sheet) or canonical; the URL of a meta refresh. An empty href of a and area is a link to the base.
    2. They are resolved against the first <base href>, or the page's URL when there is none we could ask for.
    3. Comments and the contents of script, style, template and textarea hold no links; those of noscript do, because we
       run no scripts. Links with rel=nofollow are links; that they have it is told beside them.
    """
    document = html if isinstance(html, Document) else document_of(html)
    page = document.tree
    nodes = page.css(_SOUGHT)  # to seek each kind by itself takes longer
    tags = [node.tag for node in nodes]
    at_large = [node for node, tag in zip(nodes, tags, strict=True) if tag != "a"]
    broken = _Broken()
    base, metas = _said_at_large(at_large, url, broken)
    # The latter is faster, and leaves a copy of the text behind for as long as there is the tree.
    read = LexborNode.text if document.size > page_metadata.PIECE else LexborNode.text_lexbor
    found = _links_of(nodes, tags, base, _Reader(read, 0 if _are_nested(nodes) else ROOM * document.size), broken)
    title = _title_of(page)
    said = page_metadata.facts_of(document, at_large, metas, base, url, sketches=sketches)
    if broken.number:
        said = replace(said, malformed=tuple(broken.links), malformed_number=broken.number)
    cut = found.cut or (TOO_MANY_TAGS if document.is_cut else "")
    return Extracted(title, tuple(found.targets), found.occurrences, _kept_away(found), metas, said, cut)


def _title_of(page: LexborHTMLParser) -> str:
    """The first title of the document, like `document.title`; one inside an SVG names a drawing."""
    title = page.css_first("title:not(svg title)")
    return collapsed(title.text(), MAX_TITLE) if title else ""


@dataclass(slots=True)
class _Broken:
    """The links of a page that lead nowhere because of how they are written."""

    links: list[Malformed] = field(default_factory=list)  # the first of them
    number: int = 0  # of all

    def add(self, written: str, text: str, rel: str, problem: str) -> None:
        self.number += 1
        if len(self.links) < MAX_MALFORMED:
            self.links.append(Malformed(written[:MAX_HREF], text, rel, problem))


def _said_at_large(nodes: Iterable[LexborNode], url: str, broken: _Broken) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What counts for the whole page: the base of its links, and what its meta elements say by name."""
    base: str | None = None
    metas: list[tuple[str, str]] = []
    for node in nodes:
        match node.tag:
            case "base" if base is None:
                written = attribute(node, "href")
                base = normalise(written, url)
                if base is None and (problem := problem_of(written, url)):
                    broken.add(written, "", "", f"{problem} (it is the base of the page's links)")
                base = base or url
            case "meta" if len(metas) < MAX_METAS and "name" in node.attrs:
                metas.append((attribute(node, "name"), attribute(node, "content")))
    return base or url, tuple(metas)


def _are_nested(nodes: list[LexborNode]) -> bool:
    """Whether the links of a page lie in one another, as they can in a drawing or an object: what is in ten thousand of
    them, one in the other, would be walked through ten thousand times."""
    return any(_depth(node) > NESTED for node in nodes[_SAMPLED::_SAMPLED])


def _depth(node: LexborNode) -> int:
    """How many links it lies in; no more than NESTED + 1 are counted."""
    depth, at = 0, node.parent
    while at is not None and depth <= NESTED:
        depth += at.tag == "a"
        at = at.parent
    return depth


class _Reader(NamedTuple):
    """How the words of links are read. Some elements let a link stand in a link: thousands in one another would have
    the same words read thousands of times."""

    read: Callable[[LexborNode], str]
    room: int  # characters, of all links together


class _Found(NamedTuple):
    """The links of a page."""

    targets: Iterable[str]  # each once
    occurrences: Occurrences
    cut: str  # why some are not there


def _links_of(
    nodes: Iterable[LexborNode], tags: Iterable[str | None], base: str, reader: _Reader, broken: _Broken
) -> _Found:
    """Every link among these elements, and those that lead nowhere because they are malformed."""
    targets: dict[str, int] = {}  # with their places
    places, texts, rels = list[int](), list[str](), dict[int, str]()
    seen: dict[str, int] = {}  # reference -> place of its target; -1 = there is none
    problems: dict[str, str] = {}  # reference -> why
    to_link, (read, words_room) = linker(base), reader
    room, cut = MAX_CHARACTERS, ""
    for node, tag in zip(nodes, tags, strict=True):
        attributes = node.attributes  # all of them take less time than one by its name
        written = (tag == "a" and attributes.get("href")) or _reference_in(tag, attributes)
        if written is None:
            continue
        reference = written
        if "#" in written:  # a contents page links to one page a hundred times
            # The mark stays: blanks before it belong to the URL, blanks at the end do not.
            reference = written[: written.index("#") + 1]
        place = seen.get(reference)
        if place is None:
            link = to_link(reference)
            if link is None:
                problems[reference] = problem_of(reference, base)
            elif link not in targets:
                room -= len(link)
                if room < 0 or len(targets) == MAX_LINKS:
                    cut = TOO_LONG if room < 0 else TOO_MANY
                    break
                targets[link] = len(targets)
            place = seen[reference] = -1 if link is None else targets[link]
        if place < 0 and not problems[reference]:
            continue
        said = read(node) if words_room > 0 else ""
        words_room -= len(said)
        text = " ".join(said.split()) if len(said) <= MAX_TEXT else collapsed(said, MAX_TEXT)
        if not text and words_room > 0:
            text = _picture_in(node)
        rel = rel_of(attributes["rel"] or "") if "rel" in attributes and tag in _WITH_REL else ""
        if place < 0:
            broken.add(written, text, rel, problems[reference])
            continue
        if rel:
            rels[len(places)] = rel
        places.append(place)
        texts.append(text)
    if len(texts) > MAX_LINKS and sum(map(len, texts)) > MAX_WORDS:
        texts, cut = _bounded(texts), cut or TOO_WORDY
    return _Found(targets, Occurrences(places, texts, rels), cut)


def _bounded(texts: list[str]) -> list[str]:
    """The words of the first links, and none of those for which there is no room."""
    sums = accumulate(map(len, texts))
    return [text if together <= MAX_WORDS else "" for text, together in zip(texts, sums, strict=True)]


def _kept_away(found: _Found) -> dict[str, str]:
    """Target -> rel, of those that are linked to only with one that keeps crawlers away: the first."""
    places, _, rels = found.occurrences
    if not rels:
        return {}
    away = dict[int, str]()
    for link, rel in rels.items():
        away.setdefault(places[link], rel)
    for link, place in enumerate(places):
        if link not in rels:
            away.pop(place, None)
    return {url: away[place] for place, url in enumerate(found.targets) if place in away}


def _picture_in(node: LexborNode) -> str:
    """To select it takes ten times as long."""
    for inner in islice(node.traverse(), MAX_NODES):
        if inner.tag == "img" and "alt" in inner.attrs:
            return collapsed(attribute(inner, "alt"), MAX_TEXT)
    return ""


def _reference_in(tag: str | None, attributes: Mapping[str, str | None]) -> str | None:
    """What this element refers to, as written; None when it is not a link."""
    match tag:
        case "a" | "area":
            return attributes.get("href") or attributes.get("xlink:href") or ""  # the latter in a drawing
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
