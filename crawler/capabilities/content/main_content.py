"""The main content of a page, as plain text and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.core.html.document import Document, attribute, document_of
from crawler.core.html.simhash import count_of
from crawler.core.urls.normalise import linker, normalise, resolve

MAX_TAGS = 20_000  # of the main content; with more its Markdown is its plain text, because conversion takes time
MAX_CHARACTERS = 2_000_000  # the same, because conversion takes thirty times their memory
MAX_AROUND = 200  # elements around the content; nested ones would have the same words counted each time
MAX_NESTED = 128  # nested elements: html-to-markdown is recursive, and its stack is limited
MAX_DEPTH = 16  # of nested lists, quotations, code and tables: the content is written again at each level

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
"""Elements around the content of a page: by HTML, by ARIA, and by common names."""

_MIN_CONTENT_SHARE = 0.1  # of a page's words; a main element with less does not contain its content
_PARAGRAPHS = (
    "address, article, blockquote, dl, fieldset, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, ol, p"
)
_PARAGRAPHS += ", section, table, ul"
_LINES = "br, caption, dd, details, div, dt, figcaption, li, summary, tr"
_CELLS = "td, th"
_NESTING = frozenset({"ul", "ol", "dl", "blockquote", "pre", "table"})
_NESTING_TAGS = ", ".join(sorted(_NESTING))
_NESTED = " > ".join("*" * (MAX_NESTED + 1))
_RAW = ("xmp", "plaintext", "noembed", "noframes")  # their content would become tags when written as HTML again
_WITH_ADDRESS = "a[href], img, [src], [poster], [style]"
# "data-": of pictures that are loaded lazily
_ADDRESSES = frozenset({"href", "src", "poster", "data-src", "data-original", "data-lazy-src"})
# html-to-markdown would apply the first, and take pictures from the others
_LEFT_OUT = frozenset({"style", "srcset", "data-srcset"})
_HIDING = frozenset({"hidden", "aria-hidden"})
# Placeholders for breaks and significant blanks, until all other blanks are collapsed.
_PARAGRAPH, _LINE, _BLANK = "\x1f", "\x1e", "\x1d"
_BLANKS_BUT_OURS = re.compile(r"[^\S\x1d-\x1f]+")
_MANY_LINES = re.compile(r"\n{3,}")
_PART = 1_000_000  # characters
_FOR_READERS = ("http:", "https:", "mailto:")
_SPAN = re.compile(r"</?span(?: [^>]*)?>")  # without effect in Markdown, and code may have thousands
_PLAIN_FRAGMENT = re.compile(r"[\w.:~!$&'()*+,;=@/?-]*", re.ASCII)  # not changed by a browser


def text_of(html: bytes) -> str:
    """The main content of a page (in UTF-8) as plain text, one line per block; "" when it has none."""
    return Readable(document_of(html), "").text()


def markdown_of(html: bytes, url: str) -> str:
    """The same as Markdown, with links resolved against the page's normalised `url`."""
    return Readable(document_of(html), url).markdown()


class Readable:
    """The main content of one page. It changes the page's tree, which cannot be used for anything else afterwards; the
    text changes the rest, so Markdown must be made first."""

    def __init__(self, document: Document, url: str) -> None:
        base = document.tree.css_first("base[href]")
        self._base = (normalise(attribute(base, "href"), url) if base is not None else None) or url
        self._is_whole = document.is_whole
        self._main = _main_of(document.tree)
        self._text: str | None = None

    def text(self) -> str:
        """As plain text, one line per block; "" when there is none."""
        if self._text is None:
            self._text = _plain(self._main) if self._main is not None else ""
        return self._text

    def markdown(self) -> str:
        """As Markdown. Of an extreme page (more than MAX_TAGS tags or MAX_CHARACTERS, or nested too deeply) it is the
        plain text, which is Markdown too. Raises RuntimeError for a bug of the writer."""
        if self._text is not None:
            raise ValueError("the text has changed the tree")
        from crawler.capabilities.content import markdown  # it imports modules that few crawls need

        html = self._html()
        try:
            written = markdown.write(html) if html is not None else None
        except markdown.NotWritten:
            written = None
        return self.text() if written is None else written.strip("\n") + "\n"

    def _html(self) -> str | None:
        """The input of the Markdown writer, with absolute links. None when it is too large."""
        main = self._main
        if main is None or not self._is_whole or _is_nested_deeply(main):
            return None
        _make_links_absolute(main, self._base)
        for name in _HIDING.intersection(main.attributes):
            del main.attrs[name]  # a page that is hidden as a whole is made visible by its scripts
        html = _SPAN.sub("", main.html or "")
        if len(html) > MAX_CHARACTERS or html.count("<") > MAX_TAGS:
            return None
        is_raw = any(f"<{tag}" in html for tag in _RAW) and main.css_first(", ".join(_RAW)) is not None
        return None if is_raw else html


def _main_of(tree: LexborHTMLParser) -> LexborNode | None:
    """The element with the main content.

    1. Invisible elements are removed.
    2. It is the page's main element, if there is only one and it contains a good part of the page's words.
    3. Else the body without the elements around the content; or all of it when nothing would be left.
    """
    body = tree.body
    if body is None:
        return None
    _drop(tree, _UNSEEN)
    mains = tree.css(_MAIN)
    if len(mains) == 1 and _words(mains[0]) > _MIN_CONTENT_SHARE * _words(body):
        return mains[0]
    around = [node for node in tree.css(_AROUND) if node.mem_id != body.mem_id]
    if 0 < len(around) <= MAX_AROUND and _hold_less(around, (1 - _MIN_CONTENT_SHARE / 10) * _words(body)):
        for node in around:
            node.decompose()
    return tree.body or body


def _drop(tree: LexborHTMLParser, what: str) -> None:
    for node in tree.css(what):
        if node.tag not in ("html", "body"):
            node.decompose()


def _hold_less(nodes: Iterable[LexborNode], words: float) -> bool:
    for node in nodes:
        words -= _words(node)
        if words <= 0:  # no need to count the rest
            return False
    return True


def _words(node: LexborNode) -> int:
    return count_of(node.text(separator=" "))


def _plain(main: LexborNode) -> str:
    inside = set[int]()  # nested in another, so that their text is read once
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
    """Part by part, because `re` keeps all text between blanks until it is done: ten times the text."""
    parts, is_behind_blank = [], False
    for at in range(0, len(text), _PART):
        part = _BLANKS_BUT_OURS.sub(" ", text[at : at + _PART])
        parts.append(part[1:] if is_behind_blank and part.startswith(" ") else part)
        is_behind_blank = part.endswith(" ")
    return "".join(parts)


def _make_links_absolute(main: LexborNode, base: str) -> None:
    """Make addresses of links, pictures and videos absolute; remove "javascript:" and similar links."""
    link, known = linker(base), dict[str, str | None]()
    for node in main.css(_WITH_ADDRESS):
        for name, value in node.attributes.items():  # a copy; reading each by name takes five times as long
            if name in _ADDRESSES:
                written = value or ""
                if written not in known:
                    known[written] = _whole(written.strip(), base, link)
                whole = known[written]
            elif name in _LEFT_OUT:
                whole = None
            else:
                continue
            if whole is None:
                del node.attrs[name]
            elif whole != value:
                node.attrs[name] = whole


def _whole(written: str, base: str, link: Callable[[str], str | None]) -> str | None:
    if written.startswith("#"):
        return written
    address, mark, fragment = written.partition("#")
    # as `core.html.links` resolves it
    whole = link(address + mark) if address and _PLAIN_FRAGMENT.fullmatch(fragment) else None
    if whole is not None:
        return whole + mark + fragment
    resolved = resolve(written, base)
    return resolved if resolved is not None and resolved.startswith(_FOR_READERS) else None


def _is_nested_deeply(main: LexborNode) -> bool:
    """Whether elements are nested more than MAX_NESTED deep, or lists and similar elements more than MAX_DEPTH."""
    nesting = main.css(_NESTING_TAGS)
    depths = {main.mem_id: int(main.tag in _NESTING)}
    for node in nesting if len(nesting) > MAX_DEPTH else ():
        above, at = [], node
        while at.mem_id not in depths and at.parent is not None:
            above.append(at)
            at = at.parent
        depth = depths.get(at.mem_id, 0)
        for inner in reversed(above):
            depths[inner.mem_id] = depth = depth + (inner.tag in _NESTING)
        if depth > MAX_DEPTH:
            return True
    return main.css_first(_NESTED) is not None
