"""Writes the HTML of a page's content as Markdown: with html-to-markdown, which is compiled, or with markdownify where
no wheel of it is installed."""

from __future__ import annotations

from collections.abc import Callable

MAX_DEPTH = 256  # elements in each other, as html-to-markdown reads them; it leaves out what is below


class NotWritten(Exception):
    """This HTML is nested too deeply, or looks like binary data."""


def in_python(html: str) -> str:
    """By markdownify, which needs ten times as long. Raises NotWritten."""
    from crawler.core.html.markdown_in_python import write  # it loads BeautifulSoup, in a third of a second

    try:
        return write(html)
    except RecursionError as error:
        raise NotWritten from error


def _compiled() -> Callable[[str], str] | None:
    """By html-to-markdown; None where it is not installed."""
    try:
        import html_to_markdown
    except ImportError:
        return None
    options = html_to_markdown.ConversionOptions(
        autolinks=False,
        bullets="-",
        compact_tables=True,  # padded, a table of one long cell among many rows would take their product in memory
        escape_asterisks=True,
        escape_underscores=True,
        expand_abbreviations=False,
        extract_metadata=False,
        highlight_style="none",
        include_blockquote_citations=False,
        max_depth=MAX_DEPTH,
        preprocessing=html_to_markdown.PreprocessingOptions(enabled=False),
        strip_tags=["graphic"],  # of JATS, not HTML; its address would be written as it stands
        tier_strategy="tier2",  # its other writer does some pages only, and a bit differently
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
            raise RuntimeError(f"html-to-markdown: {error}") from error  # Rust's panics are no Exception
        if any(warning.kind == html_to_markdown.WarningKind.DEPTH_LIMIT_EXCEEDED for warning in result.warnings):
            raise NotWritten
        return result.content or ""

    return write


compiled = _compiled()
"""By html-to-markdown; None where it is not installed."""
write = compiled or in_python
