"""What is read of a page: what it links to, what it is called, what it says to crawlers and of itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core import facts
from crawler.core.directives import rel_of
from crawler.core.document import attribute, document_of, words_in
from crawler.core.facts import Facts
from crawler.core.urls import linker, normalise

MAX_LINKS = 20_000  # kept of one page; what follows is dropped
MAX_TITLE = 500  # characters
MAX_TEXT = 100  # characters of the words a link is written with

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
    at_large = page.css(_ONCE)
    base, metas = _said_at_large(at_large, url)
    texts, rels = _links_of(_references(page, at_large), base)
    title = _title_of(page)
    said = facts.facts_of(document, at_large, metas, base, url, sketches=sketches)
    return Extracted(title, tuple(texts), tuple(texts.values()), rels, metas, said)


def _title_of(page: LexborHTMLParser) -> str:
    """The first title of the document, like `document.title`; one inside an SVG names a drawing."""
    title = page.css_first("title:not(svg title)")
    return words_in(title)[:MAX_TITLE] if title else ""


def _said_at_large(nodes: Iterable[LexborNode], url: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What counts for the whole page: the base of its links, and what its meta elements say by name."""
    base: str | None = None
    metas = []
    for node in nodes:
        match node.tag:
            case "base":
                base = base or normalise(attribute(node, "href"), url) or url
            case "meta" if "name" in node.attrs:
                metas.append((attribute(node, "name"), attribute(node, "content")))
    return base or url, tuple(metas)


def _references(page: LexborHTMLParser, at_large: list[LexborNode]) -> Iterator[tuple[str, str, LexborNode]]:
    """What each link refers to, as written, its rel, if that keeps crawlers away, and its element.

    Most pages have links but those of anchors in their head only, so these come first; where others stand among the
    anchors, all are sought together, which takes longer.
    """
    rels = {node.mem_id: rel for node in page.css(_RELATED) if (rel := _rel_in(node))}  # to ask each takes longer
    anchors = page.css(_ANCHORS)
    if any(node.tag in _AMONG_ANCHORS for node in at_large):
        at_large, anchors = page.css(f"{_AT_LARGE}, {_ANCHORS}"), []
    for node in at_large:
        reference = _reference_in(node)
        if reference is not None:
            yield reference, rels.get(node.mem_id, "") if rels else "", node
    for node in anchors:
        yield node.attrs["href"] or "", rels.get(node.mem_id, "") if rels else "", node


def _links_of(references: Iterable[tuple[str, str, LexborNode]], base: str) -> tuple[dict[str, str], dict[str, str]]:
    """The words each link is written with, where it first has some; and the rel of those links that have one which
    keeps crawlers away each time they are linked to."""
    texts: dict[str, str] = {}
    rels: dict[str, str] = {}  # one link without it is enough to have none
    seen: dict[str, str | None] = {}
    to_link = linker(base)
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
        if not texts.get(link):
            texts[link] = _text_of(node)
        if not rel or link not in rels:
            rels[link] = rel
        if len(texts) == MAX_LINKS:
            break
    return texts, {link: rel for link, rel in rels.items() if rel}


def _text_of(node: LexborNode) -> str:
    """What a reader sees of a link, or is told of its picture."""
    text = words_in(node)
    if not text and (picture := node.css_first("img[alt]")) is not None:
        text = " ".join(attribute(picture, "alt").split())
    return text[:MAX_TEXT]


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
