"""The kept content of one page, as it is handed out: text in UTF-8, an archive as it is."""

from __future__ import annotations

import gzip
import io
import logging
from datetime import timedelta
from uuid import UUID

from crawler import clock
from crawler.content import storage
from crawler.content.storage import Reader
from crawler.core.crawl import options
from crawler.core.html import charsets
from crawler.core.text.gzip import Broken
from crawler.models import PageFacts

# A page's content as a gzip member (RFC 1952), and back. Members behind each other are one gzip file.

LEVEL = 4  # two thirds of the time of 6, for 3% more bytes


def packed(content: bytes) -> bytes:
    return gzip.compress(content, LEVEL, mtime=0)


def unpacked(member: bytes, at_most: int) -> bytes:
    """The content of one member or several, the first `at_most` bytes. Raises Broken."""
    try:
        with gzip.open(io.BytesIO(member)) as stream:
            return stream.read(at_most)
    except (OSError, EOFError) as error:
        raise Broken(f"the stored content is damaged: {error}") from error


MOST = 64 * 1024 * 1024  # bytes of a page's content that are handed out
ENDINGS = {options.HTML: "html", options.TEXT: "txt", options.MARKDOWN: "md", options.WARC: "warc.gz"}


def is_kept(facts: PageFacts, form: str) -> bool:
    """Whether the page was kept in this form; in place of what was not, its facts say why."""
    return form in options.FORMS and isinstance(facts.kept.get(form), list)


def content_of(facts: PageFacts, form: str) -> bytes:
    """A form in which the page was kept. Raises Gone when it cannot be had, Broken when it is damaged."""
    name, offset, length = facts.kept[form]
    with Reader() as reader:
        member = reader.read((str(name), int(str(offset)), int(str(length))))
    if form == options.WARC:
        return member
    content = unpacked(member, MOST)
    return charsets.utf_8(content, _content_type(facts.headers)) if form == options.HTML else content


def _content_type(headers: str) -> str:
    lines = (line.partition(":") for line in headers.splitlines())
    return next((value.strip() for name, _, value in lines if name.lower() == "content-type"), "")


# Deletes objects of a crawl that is over which no page refers to: somebody died between saving one and leaving the
# results that refer to it, or the results came too late to count.

log = logging.getLogger(__name__)

JUST_NOW = timedelta(seconds=5)  # whoever saved an object so lately may be about to refer to it
AT_ONCE = 2000  # rows in memory


def sweep(crawl: UUID) -> int:
    """How many were deleted. A storage in trouble costs nothing but the room."""
    try:
        return _sweep(crawl)
    except Exception:
        log.exception("objects of crawl %s that nothing refers to could not be deleted", crawl)
        return 0


def _sweep(crawl: UUID) -> int:
    now = clock.now()
    loose = {name for name in storage.objects_of(str(crawl)) if storage.saved_at(name) < now - JUST_NOW}
    if not loose:
        return 0
    for kept in PageFacts.objects.filter(crawl_id=crawl).values_list("kept", flat=True).iterator(AT_ONCE):
        loose.difference_update(place[0] for place in kept.values() if isinstance(place, list))
    for name in loose:
        storage.delete(name)
    return len(loose)
