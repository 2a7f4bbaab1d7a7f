"""What a person would read of a page: its main content, as plain text and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.document import document_of
from crawler.core.urls import normalise, resolve
from crawler.core.words import count_of

MAX_TAGS = 20_000  # of the main content; with more of them its Markdown is its plain text, because turning takes time
MAX_CHARACTERS = 2_000_000  # the same, because it takes thirty times their memory
MAX_AROUND = 200  # elements around the content; of more, each in the other, the same words would be counted each time
MAX_DEPTH = 16  # of lists, quotations and tables in each other: all that is inside is written anew at each of them

_UNSEEN = (
    "script, style, template, noscript, svg, canvas, iframe, object, embed, dialog, [hidden], [aria-hidden='true'],"
    " .headerlink"
)
_MAIN = "main, [role='main']"
_AROUND = (
    "nav, aside, body > header, body > footer, [role='navigation'], [role='banner'], [role='contentinfo'],"
    " [role='complementary'], [role='search'], .navheader, .navfooter, .sphinxsidebar, .related,"
    " .sidebar, .breadcrumb, .breadcrumbs, .cookie-banner, #cookie-banner"
)
"""What stands around the content of a page, by HTML's own elements, by ARIA, and by names that are widely used."""

_LITTLE = 0.1  # of a page's words; a main element that holds less is not where its content is
_PARAGRAPHS = (
    "address, article, blockquote, dl, fieldset, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, ol, p"
)
_PARAGRAPHS += ", section, table, ul"
_LINES = "br, caption, dd, details, div, dt, figcaption, li, summary, tr"
_CELLS = "td, th"
_NESTING = frozenset({"ul", "ol", "dl", "blockquote", "table"})
_PARAGRAPH, _LINE, _BLANK = (
    "\x1f",
    "\x1e",
    "\x1d",
)  # stand for breaks and for blanks that count, until all others are gone
_BLANKS_BUT_OURS = re.compile(r"[^\S\x1d-\x1f]+")
_MANY_LINES = re.compile(r"\n{3,}")
_PART = 1_000_000  # characters
_FOR_READERS = ("http:", "https:", "mailto:")


def text_of(html: bytes) -> str:
    """The main content of a page (in UTF-8) as plain text, a line for each of its blocks; "" when it has none."""
    content = _content(html)
    return _plain(content[0]) if content else ""


def markdown_of(html: bytes, url: str) -> str:
    """The same as Markdown, its links made whole by the page's normalised `url`. Of a page that is extreme (more than
    MAX_TAGS tags or MAX_CHARACTERS, or nested more deeply than anybody reads) it is the plain text, which is Markdown
    too."""
    content = _content(html)
    if content is None:
        return ""
    main, is_whole = content
    written = main.html or ""
    if not is_whole or len(written) > MAX_CHARACTERS or written.count("<") > MAX_TAGS:
        return _plain(main)
    try:
        return _marked_down(written, _base_of(html, url))
    except RecursionError:
        return _plain(main)


def _content(html: bytes) -> tuple[LexborNode, bool] | None:
    """The element with the main content, and whether its tree is the page's own.

    1. What nobody sees is taken out.
    2. The page's main element, if there is one of them and it holds a good part of the page's words.
    3. Else its body without what stands around the content; or all of it when nothing would be left.
    """
    document = document_of(html)
    tree = document.tree
    tree_body = tree.body
    if tree_body is None:
        return None
    _drop(tree, _UNSEEN)
    mains = tree.css(_MAIN)
    if len(mains) == 1 and _words(mains[0]) > _LITTLE * _words(tree_body):
        return mains[0], document.is_whole
    around = [node for node in tree.css(_AROUND) if node.mem_id != tree_body.mem_id]
    if len(around) <= MAX_AROUND and _hold_less(around, (1 - _LITTLE / 10) * _words(tree_body)):
        for node in around:
            node.decompose()
    return tree.body or tree_body, document.is_whole


def _drop(tree: LexborHTMLParser, what: str) -> None:
    for node in tree.css(what):
        if node.tag not in ("html", "body"):
            node.decompose()


def _hold_less(nodes: Iterable[LexborNode], words: float) -> bool:
    for node in nodes:
        words -= _words(node)
        if words <= 0:  # what they hold need not be counted to its end
            return False
    return True


def _words(node: LexborNode) -> int:
    return count_of(node.text(separator=" "))


def _plain(main: LexborNode) -> str:
    inside = set[int]()  # of others: what these hold need not be read once for each of them
    for node in main.css("pre"):
        if node.mem_id in inside:
            continue
        inside.update(inner.mem_id for inner in node.css("pre"))
        as_it_is = node.text().replace("\t", "    ").replace(" ", _BLANK).replace("\n", _LINE)
        node.replace_with(f"{_PARAGRAPH}{as_it_is}{_PARAGRAPH}")
    for what, before, behind in ((_PARAGRAPHS, _PARAGRAPH, _PARAGRAPH), (_LINES, _LINE, ""), (_CELLS, " ", " ")):
        for node in main.css(what):
            node.insert_before(before)
            node.insert_after(behind)
    lines = _with_single_blanks(main.text()).replace(_LINE, "\n").replace(_PARAGRAPH, "\n\n").split("\n")
    for number, line in enumerate(lines):
        lines[number] = line.strip(" ").replace(_BLANK, " ").rstrip()
    return _MANY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def _with_single_blanks(text: str) -> str:
    """Part by part, because `re` keeps all that lies between blanks until it is done: ten times the text."""
    parts, is_behind_blank = [], False
    for at in range(0, len(text), _PART):
        part = _BLANKS_BUT_OURS.sub(" ", text[at : at + _PART])
        parts.append(part[1:] if is_behind_blank and part.startswith(" ") else part)
        is_behind_blank = part.endswith(" ")
    return "".join(parts)


def _base_of(html: bytes, url: str) -> str:
    base = document_of(html).tree.css_first("base[href]")
    return (normalise(base.attrs.get("href") or "", url) if base else None) or url


def _marked_down(html: str, base: str) -> str:
    from bs4 import BeautifulSoup  # these take a third of a second to load, and few crawls need them

    from crawler.core.markdown import Writer

    tree = BeautifulSoup(html, "html.parser")
    if _depth(tree) > MAX_DEPTH:
        raise RecursionError
    for element, name in _addresses(tree):
        written = str(element[name]).strip()
        link = written if written.startswith("#") else resolve(written, base)
        if link is None or not link.startswith(("#", *_FOR_READERS)):
            del element[name]  # "javascript:" and its like are no links for a reader
        else:
            element[name] = link
    return _MANY_LINES.sub("\n\n", Writer().convert_soup(tree)).strip() + "\n"


def _depth(tree: Any) -> int:
    """How deeply lists, quotations and tables are nested in each other."""
    depths = {id(tree): 0}
    for element in tree.find_all(True):
        depths[id(element)] = depths[id(element.parent)] + (element.name in _NESTING)
    return max(depths.values())


def _addresses(tree: Any) -> list[tuple[Any, str]]:
    return [
        (element, name)
        for tag, name in (("a", "href"), ("img", "src"))
        for element in tree.find_all(tag, **{name: True})
    ]
