"""The options of content that is kept of pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from crawler import extras
from crawler.core.composed import Part
from crawler.core.errors import BadInput
from crawler.core.options.conflicts import Conflict, chosen, lacks
from crawler.core.options.kinds import Choice, OptionGroup, OptionSet, Several, option
from crawler.core.pages.content_formats import (
    FORMS,
    HTML,
    JPEG,
    MARKDOWN,
    PDF,
    PNG,
    SCREENSHOT,
    TEXT,
    VIEWPORT,
    WARC,
    WEBP,
    WHOLE_PAGE,
)
from crawler.core.text.controls import by_surface

CONTENT = OptionGroup(
    *("Content", "HTML, text, Markdown, WARC, screenshots, PDF", "extracted fields and kept content", 150),
    tuple(f"keep_{form}" for form in FORMS),
)

SCREENSHOT_AREA = Choice(
    WHOLE_PAGE, VIEWPORT, {VIEWPORT: "The viewport, 1280 by 800 pixels", WHOLE_PAGE: "The whole page"}
)
SCREENSHOT_FORMAT = Choice(PNG, WEBP, {WEBP: "WebP", PNG: "PNG", JPEG: "JPEG"})

_KEPT_PICTURE = by_surface(
    command="--keep screenshot", page="“Screenshot” under “Content”", api='`keep` with "screenshot"'
)


BOXES = {
    HTML: ("HTML", "Each page as the server sent it."),
    TEXT: ("Text", "The main content of each page, as plain text."),
    MARKDOWN: ("Markdown", "The same in Markdown, with headings, links, lists and tables."),
    WARC: ("WARC", "Each request and response, as an archive that other tools can replay."),
    SCREENSHOT: ("Screenshot", "A picture of each rendered page."),
    PDF: ("PDF", "Each rendered page, printed on A4."),
}


NEEDED = {MARKDOWN: extras.MARKDOWN, WARC: extras.WARC}
"""The packages that formats need."""


def check_forms(field: str, forms: Sequence[str]) -> None:
    """BadInput when content cannot be kept in one of these formats."""
    for form in forms:
        if form not in FORMS:
            raise BadInput(field, f"Content can be kept as {', '.join(FORMS)}; not as {form!r}.")
        if form in NEEDED and NEEDED[form].missing:
            raise BadInput(field, NEEDED[form].missing)


class ContentOptions(Part):
    """What is kept of pages, and in which formats."""

    follows = "near_duplicates"

    keep: tuple[str, ...] = cast(
        tuple[str, ...],
        Several(
            (),
            "Keep the content of pages in these formats: `html`, `text`, `markdown`, `warc`, and of rendered pages "
            "`screenshot`, `pdf`.",
            check_forms,
            CONTENT,
            BOXES,
            "FORM",
            "html, text, markdown, warc, screenshot or pdf",
            in_fetch=True,
        ),
    )
    screenshot: str = option(
        SCREENSHOT_AREA,
        CONTENT,
        "Screenshot area",
        "Screenshots show the viewport or the whole page. Pages higher than 16,000 pixels are cut off.",
        in_fetch=True,
    )
    screenshot_format: str = option(
        SCREENSHOT_FORMAT,
        CONTENT,
        "Screenshot format",
        "Store screenshots as WebP, PNG or JPEG. WebP is smallest, PNG is lossless.",
        in_fetch=True,
    )


def _without_screenshots(field: str, label: str) -> Conflict:
    return Conflict(
        field,
        chosen(field),
        lacks("keep", SCREENSHOT),
        f"{label} needs screenshots, and this crawl keeps none: choose {_KEPT_PICTURE}, too, or leave it out.",
    )


CONFLICTS = (
    _without_screenshots("screenshot", "Screenshot area"),
    _without_screenshots("screenshot_format", "Screenshot format"),
)

OPTIONS = (OptionSet(ContentOptions, CONFLICTS),)
