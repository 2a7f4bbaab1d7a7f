"""The kept content of one page, as it is handed out: text in UTF-8, an archive as it is."""

from __future__ import annotations

from crawler.content.members import unpacked
from crawler.content.storage import Reader
from crawler.core import charsets, forms
from crawler.models import PageFacts

MOST = 64 * 1024 * 1024  # bytes of a page's content that are handed out
ENDINGS = {forms.HTML: "html", forms.TEXT: "txt", forms.MARKDOWN: "md", forms.WARC: "warc.gz"}


def is_kept(facts: PageFacts, form: str) -> bool:
    """Whether the page was kept in this form; in place of what was not, its facts say why."""
    return form in forms.FORMS and isinstance(facts.kept.get(form), list)


def content_of(facts: PageFacts, form: str) -> bytes:
    """A form in which the page was kept. Raises Gone when it cannot be had, Broken when it is damaged."""
    name, offset, length = facts.kept[form]
    with Reader() as reader:
        member = reader.read((str(name), int(str(offset)), int(str(length))))
    if form == forms.WARC:
        return member
    content = unpacked(member, MOST)
    return charsets.utf_8(content, _content_type(facts.headers)) if form == forms.HTML else content


def _content_type(headers: str) -> str:
    lines = (line.partition(":") for line in headers.splitlines())
    return next((value.strip() for name, _, value in lines if name.lower() == "content-type"), "")
