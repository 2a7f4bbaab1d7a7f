"""Conversion of HTML to Markdown: by html-to-markdown, which is compiled, or by markdownify where it is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 256  # nested elements for html-to-markdown, which skips deeper ones

_MANY_LINES = re.compile(r"\n{3,}")
_LANGUAGE = re.compile(r"lang(?:uage)?-(\S+)")


class NotWritten(Exception):
    """This HTML is nested too deeply, or looks like binary data."""


def in_python(html: str) -> str:
    """By markdownify, which takes ten times as long. Raises NotWritten."""
    from bs4 import BeautifulSoup  # only where it is needed: the import takes a third of a second

    try:
        written = str(_converter().convert_soup(BeautifulSoup(html, "html.parser")))
    except RecursionError as error:
        raise NotWritten from error
    return _MANY_LINES.sub("\n\n", written).strip()


def _converter() -> Any:
    """A markdownify converter for one page: ATX headings, and lists in linear time."""
    from markdownify import ATX, MarkdownConverter  # only where it is needed, see above

    counted: dict[int, int] = {}  # id of a list -> its items so far

    class Converter(MarkdownConverter):
        class Options:
            heading_style = ATX
            bullets = "-"
            escape_misc = False

        def convert_li(self, el: Any, text: str, parent_tags: Any) -> str:
            """markdownify counts the items before each item again; here they are counted once."""
            parent = el.parent
            if parent is None or parent.name != "ol":
                return str(super().convert_li(el, text, parent_tags))  # type: ignore[misc]  # its types lack it
            number = counted[id(parent)] = counted.get(id(parent), _start(parent) - 1) + 1
            bullet = f"{number}. "
            first, *others = (text or "").strip().split("\n")
            indented = (f"{' ' * len(bullet)}{line}" if line else "" for line in others)
            return "\n".join([bullet + first, *indented]) + "\n"

    return Converter(code_language_callback=_language_of)


def _start(ordered: Any) -> int:
    start = str(ordered.get("start") or "")
    return int(start) if start.isdecimal() and len(start) < 10 else 1


def _language_of(pre: Any) -> str:
    """The language in the class of a <pre>, or of the <code> in it."""
    code = pre.find("code")
    classes = [*(pre.get("class") or ()), *((code.get("class") or ()) if code else ())]
    return next((found[1] for name in classes if (found := _LANGUAGE.fullmatch(name))), "")


def _compiled() -> Callable[[str], str] | None:
    """By html-to-markdown; None where it is not installed."""
    try:
        import html_to_markdown
    except ImportError:
        return None
    options = html_to_markdown.ConversionOptions(
        autolinks=False,
        bullets="-",
        compact_tables=True,  # padding a table with one long cell would multiply its size by the rows
        escape_asterisks=True,
        escape_underscores=True,
        expand_abbreviations=False,
        extract_metadata=False,
        highlight_style="none",
        include_blockquote_citations=False,
        max_depth=MAX_DEPTH,
        preprocessing=html_to_markdown.PreprocessingOptions(enabled=False),
        strip_tags=["graphic"],  # of JATS, not HTML; its URL would be written unchanged
        tier_strategy="tier2",  # its other writer supports only some pages, and differs slightly
    )

    def write(html: str) -> str:
        """Raises NotWritten; RuntimeError for a bug in html-to-markdown. It holds the GIL until it is done."""
        try:
            result = html_to_markdown.convert(html, options)
        except html_to_markdown.PanicError as error:
            raise RuntimeError(f"html-to-markdown: {error}") from error
        except html_to_markdown.ConversionError as error:
            raise NotWritten from error
        except BaseException as error:
            if type(error).__module__ != "pyo3_runtime":
                raise
            raise RuntimeError(f"html-to-markdown: {error}") from error  # Rust's panics are not an Exception
        if any(warning.kind == html_to_markdown.WarningKind.DEPTH_LIMIT_EXCEEDED for warning in result.warnings):
            raise NotWritten
        return result.content or ""

    return write


compiled = _compiled()
"""By html-to-markdown; None where it is not installed."""
write = compiled or in_python
