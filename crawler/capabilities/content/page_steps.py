"""The content of pages is kept in the chosen formats. An error here never changes the page's outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Self

import msgspec
from rq.timeouts import BaseTimeoutException

from crawler.capabilities.content.main_content import Readable
from crawler.capabilities.content.options import NEEDED
from crawler.core.errors import MissingHere
from crawler.core.pages import content_formats
from crawler.core.pages.content_formats import PICTURES
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.fetcher.page_step import PageStep, SliceContext, Stage, Visit
from crawler.http.fetcher import anything_named
from crawler.http.warc_record import RecordedExchange
from crawler.storage.content.objects import packed
from crawler.storage.content.shelf import NOT_KEPT

log = logging.getLogger(__name__)


class ContentStep(PageStep):
    """The document cannot be used afterwards."""

    stage = Stage.STORE

    def __init__(self, forms: tuple[str, ...]) -> None:
        self._writers = {form: writer for form, writer in _WRITERS.items() if form in forms}
        if content_formats.WARC in forms:  # an archive has the bodies of every content type
            self.wants = anything_named

    @classmethod
    def of(cls, context: SliceContext) -> Self | None:
        """Raises MissingHere."""
        forms = context.policy.keep
        for missing in (NEEDED[form].missing for form in forms if form in NEEDED):
            if missing:
                raise MissingHere(missing)
        return cls(forms) if forms else None

    def finish(self, visit: Visit) -> None:
        """Put into `kept` each format's content, or why there is none."""
        if visit.result is None or visit.result.outcome is Outcome.UNCHANGED:  # the manager takes it from the cache
            return
        page = _Page(visit)
        contents = {form: content for form in self._writers if (content := _content(form, page))}
        visit.result = msgspec.structs.replace(visit.result, kept=contents)


@dataclass
class _Page:
    """A page whose content is kept."""

    visit: Visit

    @property
    def url(self) -> str:
        return self.visit.task.url

    @cached_property
    def readable(self) -> Readable | None:
        document = self.visit.document
        return Readable(document, self.url) if document is not None else None


def _content(form: str, page: _Page) -> bytes | str | None:
    """The content; a sentence if it cannot be written; None if the page has none in this format."""
    try:
        return _WRITERS[form](page)
    except BaseTimeoutException:
        raise  # RQ ends this job
    except Exception as error:
        log.exception("%s could not be kept as %s", page.url, form)
        return f"{NOT_KEPT}internal error ({type(error).__name__}) while writing; please report it"


def _html(page: _Page) -> bytes | None:
    return packed(page.visit.shown.body) if page.visit.document is not None and page.visit.shown is not None else None


def _markdown(page: _Page) -> bytes | None:
    return packed(page.readable.markdown().encode("utf-8", "replace")) if page.readable is not None else None


def _text(page: _Page) -> bytes | None:
    return packed(page.readable.text().encode("utf-8", "replace")) if page.readable is not None else None


def _exchange(page: _Page) -> bytes | str | None:
    """As WARC records, if it is complete: the page's own, then the records of resources it loaded in a browser."""
    fetched = page.visit.sent
    if fetched is None or fetched.http_status is None:
        return None
    from crawler.storage.content import warc  # it loads warcio

    heads = fetched.recorded
    if heads is None or fetched.outcome is not of_status(fetched.http_status):
        return f"{NOT_KEPT}{fetched.error or 'its body could not be read'}"
    request = heads.request, heads.request_headers
    own = warc.exchange(page.url, page.visit.fetched_at, request, (heads.status_line, heads.headers), fetched.body)
    return own + b"".join(map(_of_resource, page.visit.exchanges))


def _of_resource(recorded: RecordedExchange) -> bytes:
    from crawler.storage.content import warc  # as above

    heads = recorded.heads
    request, response = (heads.request, heads.request_headers), (heads.status_line, heads.headers)
    return warc.exchange(
        recorded.url, recorded.sent_at, request, response, recorded.body, sent=recorded.sent, is_cut=recorded.is_cut
    )


def _picture(form: str, page: _Page) -> bytes | str | None:
    picture = page.visit.pictures.get(form)
    return f"{NOT_KEPT}{picture}" if isinstance(picture, str) else picture and packed(picture)


_WRITERS: dict[str, Callable[[_Page], bytes | str | None]] = {
    content_formats.HTML: _html,
    content_formats.MARKDOWN: _markdown,
    content_formats.TEXT: _text,  # behind Markdown, for it takes the tree apart
    content_formats.WARC: _exchange,
    **{form: partial(_picture, form) for form in PICTURES},
}
"""Content format -> its writer, in this order."""

PAGE_STEPS = (ContentStep,)
