"""What a page links to, what it is called, and what it says to crawlers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.directives import rel_of
from crawler.core.urls import normalise

MAX_LINKS = 20_000  # kept of one page; what follows is dropped
MAX_TITLE = 500  # characters

# Building the tree walks up through the open elements at every block and through the attributes at every attribute: its
# time grows with the square of either. A million nested <div>, or attributes of one tag, would hold a worker for hours;
# with these limits the worst page takes about a second per megabyte. See `_tamed`.
MAX_TAGS = 20_000
MAX_ATTRIBUTES = 1000
_SHORT = 100_000  # characters; what is shorter has too few attributes to matter

_SOURCES = "a[href], area[href], iframe[src], frame[src], link[rel][href], meta[http-equiv=refresh i][content]"
_FOLLOWED_RELATIONS = frozenset({"next", "prev", "alternate", "canonical"})
_STRUCTURE = re.compile(
    r"</?(?!(?:a|area|base|frame|frameset|iframe|link|meta|script|style|template|textarea|title)[\s/>])[a-zA-Z][^<>]*+>",
    re.IGNORECASE,
)
_CROWDED_TAG = re.compile(
    r"""<[a-zA-Z][^\s/>]*+(?:[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+)"""
    rf"{{{MAX_ATTRIBUTES}}}[^>]*+>?"
)
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
    rels: dict[str, str]  # link -> "nofollow ugc sponsored", of those that are never linked to without any of these
    metas: tuple[tuple[str, str], ...]  # name and content of the meta elements that have both, for `core.directives`


NOTHING = Extracted("", (), {}, ())


def extract(html: str, url: str) -> Extracted:
    """Title and links of the page `html` that was found at the normalised `url`.

    1. Links are: href of a and area; src of iframe and frame; href of link with rel next, prev, alternate (unless it is
       a style sheet) or canonical; the URL of a meta refresh. An empty href of a and area is a link to the base.
    2. They are resolved against the first <base href>, or the page's URL when there is none we could ask for.
    3. Comments and the contents of script, style, template and textarea hold no links; those of noscript do, because we
       run no scripts. Links with rel=nofollow are links; that they have it is told beside them.
    """
    page = LexborHTMLParser(_tamed(html))
    base, metas = _said_at_large(page, url)
    links, rels = _links_of(page, base)
    return Extracted(title=_title_of(page), links=links, rels=rels, metas=metas)


def _tamed(html: str) -> str:
    """The page in a form whose tree is built in bounded time; the page itself, unless it is extreme.

    With more than MAX_TAGS tags only those that can matter to links are kept. A tag with MAX_ATTRIBUTES attributes is
    dropped.
    """
    if html.count("<") > MAX_TAGS:
        html = _STRUCTURE.sub("", html)
    if len(html) > _SHORT:
        html = _CROWDED_TAG.sub("", html)
    return html


def _title_of(page: LexborHTMLParser) -> str:
    """The first title of the document, like `document.title`; one inside an SVG names a drawing."""
    title = page.css_first("title:not(svg title)")
    return " ".join(title.text().split())[:MAX_TITLE] if title else ""


def _said_at_large(page: LexborHTMLParser, url: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What counts for the whole page: the base of its links, and what its meta elements say by name."""
    base: str | None = None
    metas = []
    for node in page.css("base[href], meta[name][content]"):
        if node.tag == "meta":
            metas.append((_attribute(node, "name"), _attribute(node, "content")))
        elif base is None:
            base = normalise(_attribute(node, "href"), url) or url
    return base or url, tuple(metas)


def _links_of(page: LexborHTMLParser, base: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The links, and the rel of those that have one which keeps crawlers away each time they are linked to."""
    links: dict[str, str] = {}  # to the rel; one link without it is enough to have none
    seen: dict[str, str] = {}
    for reference, rel in _references(page):
        if reference in seen and (rel or not seen[reference]):
            continue
        seen[reference] = rel
        link = normalise(reference, base)
        if link is None:
            continue
        if not rel or link not in links:
            links[link] = rel
        if len(links) == MAX_LINKS:
            break
    return tuple(links), {link: rel for link, rel in links.items() if rel}


def _references(page: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """What each link refers to, as written, and its rel, if that keeps crawlers away."""
    for node in page.css(_SOURCES):
        rel = ""
        if node.tag in ("a", "area"):
            attributes = node.attributes  # all at once: looking for one that is not there takes longer
            reference: str | None = attributes["href"] or ""
            said = attributes.get("rel")
            rel = rel_of(said) if said else ""
        else:
            reference = _reference_in(node)
        if reference is None:
            continue
        if "#" in reference:  # a contents page links to one page a hundred times
            # The mark stays: blanks before it belong to the URL, blanks at the end do not.
            reference = reference[: reference.index("#") + 1]
        yield reference, rel


def _reference_in(node: LexborNode) -> str | None:
    """What this element, which is no anchor, refers to, as written; None when it is not a link."""
    match node.tag:
        case "iframe" | "frame":
            return _attribute(node, "src") or None  # an empty frame shows about:blank
        case "link":
            return _followed(node)
        case _:
            return _refresh_target(_attribute(node, "content"))


def _followed(node: LexborNode) -> str | None:
    relations = frozenset(_attribute(node, "rel").lower().split())
    if relations.isdisjoint(_FOLLOWED_RELATIONS) or "stylesheet" in relations:
        return None
    return _attribute(node, "href") or None


def _refresh_target(content: str) -> str | None:
    match = _REFRESH.match(content)
    if match is None:
        return None
    return match[2] or match[3] or None  # without a URL the page reloads itself


def _attribute(node: LexborNode, name: str) -> str:
    """The attribute's value; "" when it is written without one."""
    value: str | None = node.attrs.get(name)
    return value or ""
