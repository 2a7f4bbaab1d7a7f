"""The content that is kept of pages, by format."""

from __future__ import annotations

from django.db.models import QuerySet

from crawler.core.html import charsets
from crawler.core.pages import content_formats
from crawler.models import Crawl, Page, PageFacts
from crawler.storage.content.objects import Reader, unpacked

MAX_CONTENT_BYTES = 64 * 1024 * 1024  # of a page's content that are served
ENDINGS = {
    content_formats.HTML: "html",
    content_formats.TEXT: "txt",
    content_formats.MARKDOWN: "md",
    content_formats.WARC: "warc.gz",
    content_formats.PDF: "pdf",
    content_formats.WEBP: "webp",
    content_formats.PNG: "png",
    content_formats.JPEG: "jpg",
}
"""Content format, or format of a screenshot -> the ending of a file's name."""


def ending_of(form: str, crawl: Crawl) -> str:
    return ENDINGS[crawl.chosen.screenshot_format if form == content_formats.SCREENSHOT else form]


def media_type_of(form: str, crawl: Crawl) -> str:
    """The type of the content as `content_of` returns it; of text whose markup must not be read, plain text."""
    match form:
        case content_formats.WARC:
            return "application/octet-stream"
        case content_formats.SCREENSHOT:
            return f"image/{crawl.chosen.screenshot_format}"
        case content_formats.PDF:
            return "application/pdf"
    return "text/plain; charset=utf-8"


def is_kept(facts: PageFacts, form: str) -> bool:
    """Whether the page is stored in this format; if not, its facts say why."""
    return isinstance(facts.kept.get(form), list)


def pages_with(crawl: Crawl, form: str) -> QuerySet[Page]:
    """The pages stored in this format."""
    return Page.objects.filter(facts__crawl=crawl, **{f"facts__kept__{form}__0__isnull": False})


def content_of(facts: PageFacts, form: str) -> bytes:
    """The page's content in this format: text in UTF-8, WARC records, or a picture. Raises ObjectMissing, and
    Broken if it is damaged."""
    with Reader() as reader:
        return content_by(reader, facts, form)


def content_by(reader: Reader, facts: PageFacts, form: str) -> bytes:
    """The same by a reader, which is faster for many pages."""
    name, offset, length = facts.kept[form]
    member = reader.read((str(name), int(str(offset)), int(str(length))))
    if form == content_formats.WARC:
        return member
    content = unpacked(member, MAX_CONTENT_BYTES)
    return charsets.utf_8(content, _content_type(facts.headers)) if form == content_formats.HTML else content


def _content_type(headers: str) -> str:
    lines = (line.partition(":") for line in headers.splitlines())
    return next((value.strip() for name, _, value in lines if name.lower() == "content-type"), "")
