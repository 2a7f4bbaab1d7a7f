"""How markdownify writes Markdown for us: headings by hash marks, and no list that takes longer the longer it is. It is
used where html-to-markdown cannot be installed."""

from __future__ import annotations

import re
from typing import Any

from bs4 import BeautifulSoup
from markdownify import ATX, MarkdownConverter

_MANY_LINES = re.compile(r"\n{3,}")
_LANGUAGE = re.compile(r"lang(?:uage)?-(\S+)")


def write(html: str) -> str:
    """RecursionError when it is nested too deeply."""
    written = str(Writer().convert_soup(BeautifulSoup(html, "html.parser")))
    return _MANY_LINES.sub("\n\n", written).strip()


class Writer(MarkdownConverter):
    """For one page."""

    class Options:
        heading_style = ATX
        bullets = "-"
        escape_misc = False

    def __init__(self) -> None:
        super().__init__(code_language_callback=_language_of)
        self._counted: dict[int, int] = {}

    def convert_li(self, el: Any, text: str, parent_tags: Any) -> str:
        """markdownify counts the items before each item anew; here they are counted as they come."""
        parent = el.parent
        if parent is None or parent.name != "ol":
            return str(super().convert_li(el, text, parent_tags))  # type: ignore[misc]  # its types leave it out
        number = self._counted[id(parent)] = self._counted.get(id(parent), _start(parent) - 1) + 1
        bullet = f"{number}. "
        first, *others = (text or "").strip().split("\n")
        indented = (f"{' ' * len(bullet)}{line}" if line else "" for line in others)
        return "\n".join([bullet + first, *indented]) + "\n"


def _start(ordered: Any) -> int:
    said = str(ordered.get("start") or "")
    return int(said) if said.isdecimal() and len(said) < 10 else 1


def _language_of(pre: Any) -> str:
    """What a <pre>, or the <code> in it, says by its class."""
    code = pre.find("code")
    classes = [*(pre.get("class") or ()), *((code.get("class") or ()) if code else ())]
    return next((found[1] for name in classes if (found := _LANGUAGE.fullmatch(name))), "")
