"""What a crawl wants of a page beside the usual, by option: fields by its extraction rules, and its content to keep.
Whatever goes wrong here costs no page its outcome; a note says what is missing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from rq.timeouts import BaseTimeoutException

from crawler.content import warc
from crawler.content.members import packed
from crawler.content.shelf import NOT_KEPT
from crawler.core import charsets, forms, readable
from crawler.core.outcomes import Outcome, of_status
from crawler.core.rules import FieldRule
from crawler.core.work import PageResult
from crawler.fetching.fetcher import Fetched, Wants, anything_named, is_html

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class More:
    """The rules and forms of one crawl."""

    rules: tuple[FieldRule, ...] = ()
    keep: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules or self.keep)

    @property
    def wants(self) -> Wants:
        """Which bodies are read: for an archive those of whatever is linked to."""
        return anything_named if forms.WARC in self.keep else is_html

    def as_without(self, fetched: Fetched) -> Fetched:
        """The answer with the outcome it has for a crawl that keeps nothing, which does not even read a body that is
        not HTML: that one is too large, or broke off, costs its content alone."""
        if fetched.http_status is None or is_html(fetched.content_type or "text/html"):
            return fetched
        usual = of_status(fetched.http_status)
        if fetched.outcome in (usual, Outcome.MALFORMED):
            return fetched
        return msgspec.structs.replace(fetched, outcome=usual, body=b"", recorded=None, error="")

    def added(self, result: PageResult, fetched: Fetched, url: str) -> PageResult:
        """The result with all this: `facts.fields` and `facts.notes`; in `kept` each form's member, or why not."""
        html = _html_of(fetched)
        if html is not None and self.rules:
            result = self._with_fields(result, html, url)
        if not self.keep:
            return result
        kept = {form: content for form in self.keep if (content := self._content(form, fetched, html, url, result))}
        return msgspec.structs.replace(result, kept=kept)

    def _with_fields(self, result: PageResult, html: bytes, url: str) -> PageResult:
        from crawler.core import extraction  # it loads BeautifulSoup, which a crawl without rules does without

        try:
            found = extraction.extract(html, url, self.rules)
        except BaseTimeoutException:
            raise  # RQ ends this job
        except Exception:
            log.exception("no fields could be read from %s", url)
            found = extraction.nothing(self.rules, extraction.FAULT)
        facts = msgspec.structs.replace(result.facts, fields=found.values, notes=found.notes)
        return msgspec.structs.replace(result, facts=facts)

    def _content(
        self, form: str, fetched: Fetched, html: bytes | None, url: str, result: PageResult
    ) -> bytes | str | None:
        """The member; a sentence when it cannot be had; None when the page has nothing of this form."""
        try:
            if form == forms.WARC:
                return _exchange(fetched, url, result.fetched_at)
            return packed(_MAKERS[form](fetched, html, url)) if html is not None else None
        except BaseTimeoutException:
            raise  # RQ ends this job
        except Exception as error:
            log.exception("%s could not be kept as %s", url, form)
            return f"{NOT_KEPT}{type(error).__name__} while it was written; please report it"


NO_MORE = More()


def _html_of(fetched: Fetched) -> bytes | None:
    """A page's HTML in UTF-8; None for what is none, or no success."""
    if fetched.outcome is not Outcome.SUCCESS or not fetched.body or not is_html(fetched.content_type or "text/html"):
        return None
    return charsets.utf_8(fetched.body, fetched.content_type_header)


def _exchange(fetched: Fetched, url: str, fetched_at: float) -> bytes | str | None:
    """As WARC records, if it is complete."""
    if fetched.http_status is None:
        return None
    heads = fetched.recorded
    if heads is None or fetched.outcome is not of_status(fetched.http_status):
        return f"{NOT_KEPT}{fetched.error or 'its body could not be read'}"
    request = heads.request, heads.request_headers
    return warc.exchange(url, fetched_at, request, (heads.status_line, heads.headers), fetched.body)


Maker = Callable[[Fetched, bytes, str], bytes]

_MAKERS: dict[str, Maker] = {
    forms.HTML: lambda fetched, html, url: fetched.body,
    forms.TEXT: lambda fetched, html, url: readable.text_of(html).encode("utf-8", "replace"),
    forms.MARKDOWN: lambda fetched, html, url: readable.markdown_of(html, url).encode("utf-8", "replace"),
}
"""Form -> how a page is written in it."""
