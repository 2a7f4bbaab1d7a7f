"""Optional capture of a page: fields by extraction rules and hooks, and its content in the chosen formats. An error
here never changes the page's outcome; a note says what is missing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import msgspec
from rq.timeouts import BaseTimeoutException

from crawler.capabilities.content import warc
from crawler.capabilities.content.shelf import NOT_KEPT
from crawler.capabilities.content.storage import packed
from crawler.capabilities.hooks.on_page import PageHooks
from crawler.core.extraction.rules import FieldRule
from crawler.core.html import charsets
from crawler.core.html.document import Document
from crawler.core.html.main_content import Readable
from crawler.core.options import of_capabilities as options
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.pages.rendering import PICTURES
from crawler.core.protocol.messages import Batch, PageResult
from crawler.http.fetcher import FetchResult, Wants, anything_named, is_html

if TYPE_CHECKING:
    from crawler.capabilities.browser.result import RecordedResource, Rendering

log = logging.getLogger(__name__)

NO_HOOKS = PageHooks()


@dataclass(frozen=True)
class Capture:
    """The extraction rules, content formats and hooks of one crawl."""

    rules: tuple[FieldRule, ...] = ()
    keep: tuple[str, ...] = ()
    hooks: PageHooks = NO_HOOKS

    @classmethod
    def of(cls, batch: Batch) -> Capture:
        return cls(batch.policy.fields, batch.policy.keep, PageHooks.of(batch.crawl))

    def __bool__(self) -> bool:
        return bool(self.rules or self.keep or self.hooks)

    @property
    def wants(self) -> Wants:
        """Which bodies are read: for a WARC archive those of every content type."""
        return anything_named if options.WARC in self.keep else is_html

    def as_without_capture(self, fetched: FetchResult) -> FetchResult:
        """The response with the outcome it has without capture, where a body that is not HTML is not read: if it is too
        large or truncated, only its content is lost."""
        if fetched.http_status is None or is_html(fetched.content_type or "text/html"):
            return fetched
        usual = of_status(fetched.http_status)
        if fetched.outcome in (usual, Outcome.MALFORMED):
            return fetched
        return msgspec.structs.replace(fetched, outcome=usual, body=b"", recorded=None, error="")

    def capture(
        self,
        result: PageResult,
        fetched: FetchResult,
        document: Document | None,
        url: str,
        html: bytes | None,
        rendering: Rendering | None = None,
    ) -> PageResult:
        """The result with `facts.fields` and `facts.notes`, and in `kept` each format's content, or why there is none.
        `document` and `html` are the page's, as it was rendered if it was, and `fetched` is as it was sent. The
        document cannot be used afterwards. `rendering` is that of a rendered page."""
        if document is not None and self.rules:
            result = self._with_fields(result, document, url)
        if self.hooks and document is not None and html is not None:
            result = self.hooks.applied(result, url, charsets.utf_8(html, fetched.content_type_header))
        if not self.keep or result.outcome is Outcome.UNCHANGED:  # whose content the manager takes from the cache
            return result
        page = _Page(fetched, document, url, result.fetched_at, html, rendering)
        contents = {form: content for form in _WRITERS if form in self.keep and (content := _content(form, page))}
        return msgspec.structs.replace(result, kept=contents)

    def _with_fields(self, result: PageResult, document: Document, url: str) -> PageResult:
        from crawler.capabilities.extraction.xpath.evaluator import evaluate
        from crawler.core.extraction import (
            extractor,  # it loads BeautifulSoup, which a crawl without rules does without
        )

        try:
            found = extractor.extract(document, url, self.rules, evaluate)
        except BaseTimeoutException:
            raise  # RQ ends this job
        except Exception:
            log.exception("no fields could be read from %s", url)
            found = extractor.nothing(self.rules, extractor.FAULT)
        facts = msgspec.structs.replace(result.facts, fields=found.values, notes=found.notes)
        return msgspec.structs.replace(result, facts=facts)


NO_CAPTURE = Capture()


@dataclass
class _Page:
    """A page whose content is kept."""

    fetched: FetchResult
    document: Document | None  # None: it is not HTML, or no success
    url: str
    fetched_at: float
    html: bytes | None
    rendering: Rendering | None

    @cached_property
    def readable(self) -> Readable | None:
        return Readable(self.document, self.url) if self.document is not None else None


def _content(form: str, page: _Page) -> bytes | str | None:
    """The content; a sentence if it cannot be written; None if the page has none in this format."""
    try:
        return _WRITERS[form](page)
    except BaseTimeoutException:
        raise  # RQ ends this job
    except Exception as error:
        log.exception("%s could not be kept as %s", page.url, form)
        return f"{NOT_KEPT}{type(error).__name__} while it was written; please report it"


def _html(page: _Page) -> bytes | None:
    return packed(page.html) if page.html is not None else None


def _markdown(page: _Page) -> bytes | None:
    return packed(page.readable.markdown().encode("utf-8", "replace")) if page.readable is not None else None


def _text(page: _Page) -> bytes | None:
    return packed(page.readable.text().encode("utf-8", "replace")) if page.readable is not None else None


def _exchange(page: _Page) -> bytes | str | None:
    """As WARC records, if it is complete: the page's own, then those of what it loaded in a browser."""
    fetched = page.fetched
    if fetched.http_status is None:
        return None
    heads = fetched.recorded
    if heads is None or fetched.outcome is not of_status(fetched.http_status):
        return f"{NOT_KEPT}{fetched.error or 'its body could not be read'}"
    request = heads.request, heads.request_headers
    own = warc.exchange(page.url, page.fetched_at, request, (heads.status_line, heads.headers), fetched.body)
    return own + b"".join(map(_of_resource, page.rendering.recorded if page.rendering else ()))


def _of_resource(recorded: RecordedResource) -> bytes:
    heads = recorded.heads
    request, response = (heads.request, heads.request_headers), (heads.status_line, heads.headers)
    return warc.exchange(
        recorded.url, recorded.sent_at, request, response, recorded.body, sent=recorded.sent, is_cut=recorded.is_cut
    )


def _picture(form: str, page: _Page) -> bytes | str | None:
    picture = page.rendering.pictures.get(form) if page.rendering else None
    return f"{NOT_KEPT}{picture}" if isinstance(picture, str) else picture and packed(picture)


_WRITERS: dict[str, Callable[[_Page], bytes | str | None]] = {
    options.HTML: _html,
    options.MARKDOWN: _markdown,
    options.TEXT: _text,  # behind Markdown, for it takes the tree apart
    options.WARC: _exchange,
    **{form: partial(_picture, form) for form in PICTURES},
}
"""Content format -> its writer, in this order."""
