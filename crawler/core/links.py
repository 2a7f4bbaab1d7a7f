"""What is read of a page: what it links to, what it is called, what it says to crawlers and of itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core import facts
from crawler.core.directives import rel_of
from crawler.core.document import MOST_TAGS, attribute, collapsed, document_of
from crawler.core.facts import Facts
from crawler.core.urls import linker, normalise

MAX_LINKS = 20_000  # kept of one page; what follows is dropped
MAX_CHARACTERS = 2_000_000  # of all links kept of one page: with a long <base> a few bytes of HTML are a long URL
MAX_METAS = 1000  # that are looked at for what they say
MAX_TITLE = 500  # characters
MAX_TEXT = 100  # characters of the words a link is written with
MAX_NODES = 100  # of a link without words that are looked through for a picture
TOO_MANY = f"it has more than {MAX_LINKS:,} links; the rest was not read"
TOO_MANY_TAGS = f"it has more than {MOST_TAGS:,} tags that may be links; the rest was not read"
TOO_LONG = f"its links have more than {MAX_CHARACTERS:,} characters together; the rest was not read"

ROOM = 4  # times as many characters as a page has are read of its links
NESTED = 8  # links in one another, at the most; by HTML's own rules there are no two
_SAMPLED = 64  # every so many links one is looked at, whether it lies in others

_ANCHORS = "a[href]"
_AT_LARGE = "base[href], meta[content], area[href], iframe[src], frame[src], link[rel][href]"
_ONCE = f"{_AT_LARGE}, {facts.AT_LARGE}"
_RELATED = "a[rel], area[rel]"
_AMONG_ANCHORS = frozenset({"area", "iframe", "frame"})
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
    links: tuple[str, ...]  # normalised URLs, each once, in order of appearance
    texts: tuple[str, ...]  # the words each is written with, at most MAX_TEXT characters; "" when there are none
    rels: dict[str, str]  # link -> "nofollow ugc sponsored", of those that are never linked to without any of these
    metas: tuple[tuple[str, str], ...]  # name and content of the meta elements that have both, for `core.directives`
    facts: Facts
    cut: str = ""  # why some of its links are not here; "" = all are


NOTHING = Extracted("", (), (), {}, (), facts.NOTHING)


def extract(html: str | bytes, url: str, *, sketches: bool = False) -> Extracted:
    """Title and links of the page `html` (text, or its UTF-8) that was found at the normalised `url`.

    1. Links are: href of a and area; src of iframe and frame; href of link with rel next, prev, alternate (unless it is
       a style sheet) or canonical; the URL of a meta refresh. An empty href of a and area is a link to the base.
    2. They are resolved against the first <base href>, or the page's URL when there is none we could ask for.
    3. Comments and the contents of script, style, template and textarea hold no links; those of noscript do, because we
       run no scripts. Links with rel=nofollow are links; that they have it is told beside them.
    """
    document = document_of(html)
    page = document.tree
    at_large, anchors = page.css(_ONCE), page.css(_ANCHORS)
    base, metas = _said_at_large(at_large, url)
    words = _Words(0 if _are_nested(anchors) else ROOM * len(html))
    texts, rels, cut = _links_of(_references(page, at_large, anchors), base, words)
    title = _title_of(page)
    said = facts.facts_of(document, at_large, metas, base, url, sketches=sketches)
    cut = cut or (TOO_MANY_TAGS if document.is_cut else "")
    return Extracted(title, tuple(texts), tuple(texts.values()), rels, metas, said, cut)


def _title_of(page: LexborHTMLParser) -> str:
    """The first title of the document, like `document.title`; one inside an SVG names a drawing."""
    title = page.css_first("title:not(svg title)")
    return collapsed(title.text(), MAX_TITLE) if title else ""


def _said_at_large(nodes: Iterable[LexborNode], url: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What counts for the whole page: the base of its links, and what its meta elements say by name."""
    base: str | None = None
    metas: list[tuple[str, str]] = []
    for node in nodes:
        match node.tag:
            case "base":
                base = base or normalise(attribute(node, "href"), url) or url
            case "meta" if len(metas) < MAX_METAS and "name" in node.attrs:
                metas.append((attribute(node, "name"), attribute(node, "content")))
    return base or url, tuple(metas)


def _are_nested(anchors: list[LexborNode]) -> bool:
    """Whether the links of a page lie in one another, as they can in a drawing or an object: what is in ten thousand of
    them, one in the other, would be walked through ten thousand times."""
    return any(_depth(node) > NESTED for node in anchors[_SAMPLED::_SAMPLED])


def _depth(node: LexborNode) -> int:
    """How many links it lies in; no more than NESTED + 1 are counted."""
    depth, at = 0, node.parent
    while at is not None and depth <= NESTED:
        depth += at.tag == "a"
        at = at.parent
    return depth


def _references(
    page: LexborHTMLParser, at_large: list[LexborNode], anchors: list[LexborNode]
) -> Iterator[tuple[str, str, LexborNode]]:
    """What each link refers to, as written, its rel, if that keeps crawlers away, and its element.

    Most pages have links but those of anchors in their head only, so these come first; where others stand among the
    anchors, all are sought together, which takes longer.
    """
    rels = {node.mem_id: rel for node in page.css(_RELATED) if (rel := _rel_in(node))}  # to ask each takes longer
    if any(node.tag in _AMONG_ANCHORS for node in at_large):
        at_large, anchors = page.css(f"{_AT_LARGE}, {_ANCHORS}"), []
    for node in at_large:
        reference = _reference_in(node)
        if reference is not None:
            yield reference, rels.get(node.mem_id, "") if rels else "", node
    for node in anchors:
        yield node.attrs["href"] or "", rels.get(node.mem_id, "") if rels else "", node


class _Words:
    """Reads the words of links. Some elements let a link stand in a link: thousands in one another would have the same
    words read thousands of times, so that `room`, in characters, is what all may have together."""

    def __init__(self, room: int) -> None:
        self._room = room

    def of(self, node: LexborNode) -> str:
        """What a reader sees of a link, or is told of its picture."""
        if self._room <= 0:
            return ""
        said = node.text()
        self._room -= len(said)
        text = " ".join(said.split()) if len(said) <= MAX_TEXT else collapsed(said, MAX_TEXT)
        return text or _picture_in(node)


def _links_of(
    references: Iterable[tuple[str, str, LexborNode]], base: str, words: _Words
) -> tuple[dict[str, str], dict[str, str], str]:
    """The words each link is written with, where it first has some; the rel of those links that have one which keeps
    crawlers away each time they are linked to; and why some are not there."""
    texts: dict[str, str] = {}
    rels: dict[str, str] = {}  # one link without it is enough to have none
    seen: dict[str, str | None] = {}
    to_link = linker(base)
    room, cut = MAX_CHARACTERS, ""
    for written, rel, node in references:
        reference = written
        if "#" in written:  # a contents page links to one page a hundred times
            # The mark stays: blanks before it belong to the URL, blanks at the end do not.
            reference = written[: written.index("#") + 1]
        if reference not in seen:
            seen[reference] = to_link(reference)
        link = seen[reference]
        if link is None:
            continue
        text = texts.get(link)
        if text is None:
            room -= len(link)
            if room < 0 or len(texts) == MAX_LINKS:
                cut = TOO_LONG if room < 0 else TOO_MANY
                break
        if not text:
            texts[link] = words.of(node)
        if not rel or link not in rels:
            rels[link] = rel
    return texts, {link: rel for link, rel in rels.items() if rel}, cut


def _picture_in(node: LexborNode) -> str:
    """To select it takes ten times as long."""
    for inner in islice(node.traverse(), MAX_NODES):
        if inner.tag == "img" and "alt" in inner.attrs:
            return collapsed(attribute(inner, "alt"), MAX_TEXT)
    return ""


def _rel_in(node: LexborNode) -> str:
    said = node.attrs.get("rel")
    return rel_of(said) if said else ""


def _reference_in(node: LexborNode) -> str | None:
    """What this element refers to, as written; None when it is not a link."""
    match node.tag:
        case "a" | "area":
            return attribute(node, "href")
        case "iframe" | "frame":
            return attribute(node, "src") or None  # an empty frame shows about:blank
        case "link":
            return _followed(node)
        case "meta" if attribute(node, "http-equiv").lower() == "refresh":
            return _refresh_target(attribute(node, "content"))
        case _:
            return None


def _followed(node: LexborNode) -> str | None:
    relations = frozenset(attribute(node, "rel").lower().split())
    if relations.isdisjoint(_FOLLOWED_RELATIONS) or "stylesheet" in relations:
        return None
    return attribute(node, "href") or None


def _refresh_target(content: str) -> str | None:
    match = _REFRESH.match(content)
    if match is None:
        return None
    return match[2] or match[3] or None  # without a URL the page reloads itself
