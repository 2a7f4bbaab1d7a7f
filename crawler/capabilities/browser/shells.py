"""Tells which pages are shells: what they say is written by their scripts, so without these there is nothing to read.

A shell takes a browser to be read, which costs many times what another page does. One that is not found is a site
whose links are missing. So a page that could be either is a shell if its scripts may write more than it has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.capabilities.browser.options import ALWAYS
from crawler.core.html.document import Document, attribute

NO_TEXT = 40  # characters; "Loading application, please wait..." has 35
LITTLE_TEXT = 300  # characters; the footer of a shell, or its warning for old browsers
FEW_LINKS = 3  # imprint, privacy, terms; the menu of a page that was written by a server has more
MAX_NODES = 2000  # that are looked at; what has so many elements is no shell, whatever they are
MAX_SCRIPTS = 100  # that are looked at; one that builds the page is among the first
MAX_TRACKER = 2000  # characters of a script in the page that only measures visits; usual ones have less than 1,000
MAX_ROOTS = 10  # that are looked at; a page has one, but they could be nested
MAX_NOSCRIPT_CHARACTERS = 1000  # characters that are read of a noscript element


class Shell(StrEnum):
    """Why a page is a shell. The value is recorded with the page."""

    NOSCRIPT = "noscript"
    ROOT = "root"
    EMPTY = "empty"


_UNREAD = frozenset({"script", "style", "template", "svg", "head", "title", "datalist"})
_FIELDS = frozenset({"input", "select", "textarea"})
_LINK = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}  # frames: what they show is a page of its own
_READ = _UNREAD | _FIELDS | _LINK.keys() | {"form", "noscript"}  # any other is but the elements in it
_ROOTS = ", ".join(
    (
        *("#root", "#react-root", "#app-root", "#___gatsby", "#__next"),  # React
        *("#app", "#__nuxt", "#q-app", "[v-cloak]"),  # Vue
        *("app-root", "[ng-app]", "[data-ng-app]", "ng-view", "[ng-view]", "[data-ng-view]", "ui-view", "[ui-view]"),
        *("#svelte", "#ember-app", "#main-app", "[data-reactroot]"),
        "template[data-dgst='BAILOUT_TO_CLIENT_SIDE_RENDERING']",  # Next.js: a part that its server did not write
    )
)
"""The elements that frameworks fill. Other roots need no name: a page of nothing else is empty."""

# Written like this in nearly every language.
_JAVASCRIPT = re.compile(r"java\s?script|\bjs\b|자바\s?스크립트|джава\s?скрипт|جافا\s?سكريبت", re.IGNORECASE)
_OF_A_PART = re.compile(r"comment|disqus|captcha|e-?mail", re.IGNORECASE)  # which the page can do without
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}")  # AngularJS, Vue: filled by a script
_NO_PAGE = re.compile(r"\s*(?:#|about:|javascript:|mailto:|tel:|data:)", re.IGNORECASE)
_REDIRECT = "meta[http-equiv='refresh' i][content*='url' i]"
_RUN = ("javascript", "ecmascript", "jscript")  # how the type of a script ends; that of data does not
_TRACKER = re.compile(
    r"googletagmanager|google-analytics|\bgtag\(|\bdataLayer\b|connect\.facebook\.net|\bfbq\(|hotjar|matomo|piwik|\b_paq\b"
    r"|plausible\.io|clarity\.ms|cloudflareinsights|/cdn-cgi/|hs-scripts\.com|NREUM|mc\.yandex|hm\.baidu|cookiebot|onetrust",
    re.IGNORECASE,
)
"""What measures visits or asks for consent, in the address of a script or in a short one: it writes no page."""


def reason(document: Document) -> str:
    """Why this page is a shell: a value of `Shell`, or "". To be asked before `links.extract`, which removes scripts.

    1. A page with more than LITTLE_TEXT, more than FEW_LINKS or a form to fill in is none. The beginning of nearly any
       page tells.
    2. Nor is one without a script that could write it (those that measure visits do not), or that redirects.
    3. It is one if it asks for JavaScript; or else if a root of a framework is empty or holds a word and a spinner; or
       else if all of it does.

    The parts of an extreme page (`Document.is_whole` is False) are not known, and its size says that it is none.
    """
    content = _little_of(document)
    if content is None:
        return ""
    if not _has_builder(document.tree) or _redirects(document.tree):
        return ""
    if content.asks_for_javascript():
        return Shell.NOSCRIPT
    roots = (_content_of(root) for root in document.tree.css(_ROOTS)[:MAX_ROOTS])
    if any(root is not None and root.is_empty() for root in roots):
        return Shell.ROOT
    return Shell.EMPTY if content.is_empty() else ""


def says_little(document: Document) -> bool:
    """Whether it may be one by what it says, whatever its scripts are."""
    return _little_of(document) is not None


def _little_of(document: Document) -> _Content | None:
    """Its content, if that is no more than a shell has."""
    body = document.tree.body
    content = _content_of(body) if body is not None and document.is_whole else None
    return None if content is None or content.has_fields else content


@dataclass(slots=True)
class _Content:
    """What an element holds for readers without scripts, when that is little."""

    texts: list[str] = field(default_factory=list)
    characters: int = 0
    links: int = 0  # to pages
    has_fields: bool = False
    pleas: list[str] = field(default_factory=list)  # texts of its noscript elements

    def is_empty(self) -> bool:
        return self.characters <= NO_TEXT and not self.links and not self.has_fields

    def asks_for_javascript(self) -> bool:
        """In a noscript element or, if its scripts replace it, in its text."""
        return any(
            _JAVASCRIPT.search(plea) and not _OF_A_PART.search(plea) for plea in (*self.pleas, " ".join(self.texts))
        )

    def add(self, tag: str, node: LexborNode) -> bool:
        """Add an element of _READ without those in it. Returns whether they are to be added, too."""
        if tag in _LINK:
            written = attribute(node, _LINK[tag])
            self.links += bool(written) and "{{" not in written and not _NO_PAGE.match(written)
        elif tag in _FIELDS:
            self.has_fields |= attribute(node, "type").lower() != "hidden"
        elif tag == "form":
            return not _is_hidden(node.attributes)  # written for a service that reads the page, like Netlify's
        elif tag == "noscript":
            self.pleas.append(node.text()[:MAX_NOSCRIPT_CHARACTERS])
            return False
        return tag not in _UNREAD

    def add_text(self, text: str) -> None:
        if text:
            shown = _PLACEHOLDER.sub("", text).strip() if "{{" in text else text
            self.texts.append(shown)
            self.characters += len(shown)


def _content_of(top: LexborNode) -> _Content | None:
    """What is in this element; None if that is more than a shell has. It stops there."""
    content = _Content()
    pending = [top.first_child]
    for _ in range(MAX_NODES):
        node = pending.pop() if pending else None
        if node is None:
            return content
        if (following := node.next) is not None:
            pending.append(following)
        goes_in, tag = True, node.tag
        if tag == "-text":
            content.add_text((node.text_content or "").strip())
        elif tag in _READ:
            goes_in = content.add(tag, node)
        if content.characters > LITTLE_TEXT or content.links > FEW_LINKS:
            return None
        if goes_in and (inner := node.first_child) is not None:
            pending.append(inner)
    return None


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    return "hidden" in attributes or "display:none" in (attributes.get("style") or "").replace(" ", "")


def _has_builder(page: LexborHTMLParser) -> bool:
    """Whether it has a script that may write the page."""
    return any(_may_build(script) for script in islice(page.css("script"), MAX_SCRIPTS))


def _may_build(script: LexborNode) -> bool:
    kind = attribute(script, "type").strip().lower()
    if kind not in ("", "module") and not kind.endswith(_RUN):
        return False
    written = attribute(script, "src") or script.text().strip()
    return bool(written) and (len(written) > MAX_TRACKER or not _TRACKER.search(written))


def _redirects(page: LexborHTMLParser) -> bool:
    """By a meta element; one in a noscript element leads visitors without scripts away."""
    return any(node.parent is None or node.parent.tag != "noscript" for node in page.css(_REDIRECT))


RENDERED_BECAUSE: dict[str, str] = {
    ALWAYS: "the crawl renders all pages",
    Shell.NOSCRIPT: "it asks visitors to enable JavaScript and has little text",
    Shell.ROOT: "the element that its scripts fill is empty",
    Shell.EMPTY: "it has scripts, but almost no text and no links",
}
"""Why a browser rendered a page, to follow "because"."""


def why_rendered(reason: str) -> str:
    """Why a browser rendered a page, in words, to follow "because"; one of a newer version as it is."""
    return RENDERED_BECAUSE.get(reason, reason)
