"""What a page links to, and what it is called."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

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


def extract(html: str, url: str) -> Extracted:
    """Title and links of the page `html` that was found at the normalised `url`.

    1. Links are: href of a and area; src of iframe and frame; href of link with rel next, prev, alternate (unless it is
       a style sheet) or canonical; the URL of a meta refresh. An empty href of a and area is a link to the base.
    2. They are resolved against the first <base href>, or the page's URL when there is none we could ask for.
    3. Comments and the contents of script, style, template and textarea hold no links; those of noscript do, because we
       run no scripts. rel=nofollow is a hint to search engines and changes nothing.
    """
    page = LexborHTMLParser(_tamed(html))
    return Extracted(title=_title_of(page), links=_links_of(page, _base_of(page, url)))


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


def _base_of(page: LexborHTMLParser, url: str) -> str:
    base = page.css_first("base[href]")
    return (normalise(_attribute(base, "href"), url) if base else None) or url


def _links_of(page: LexborHTMLParser, base: str) -> tuple[str, ...]:
    links: dict[str, None] = {}
    seen: set[str] = set()
    for node in page.css(_SOURCES):
        reference = _reference_in(node)
        if reference is None:
            continue
        before, mark, _ = reference.partition("#")  # a contents page links to one page a hundred times
        reference = before + mark  # the mark stays: blanks before it belong to the URL, blanks at the end do not
        if reference in seen:
            continue
        seen.add(reference)
        link = normalise(reference, base)
        if link is not None:
            links[link] = None
        if len(links) == MAX_LINKS:
            break
    return tuple(links)


def _reference_in(node: LexborNode) -> str | None:
    """What this element refers to, as written; None when it is not a link."""
    match node.tag:
        case "a" | "area":
            return _attribute(node, "href")
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
