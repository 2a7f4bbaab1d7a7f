"""What a response says about its page, as the manager gets it."""

from __future__ import annotations

import msgspec

from crawler import conf
from crawler.core.html import charsets, link_codec, links
from crawler.core.html.document import MOST_TAGS, Document
from crawler.core.html.links import LinksCut
from crawler.core.html.page_metadata import HrefFault, HrefProblem, PageMetadata, directives_of
from crawler.core.pages.cache_policy import is_unchanged
from crawler.core.pages.outcomes import Outcome, of_status
from crawler.core.protocol.messages import SITEMAP, PageResult, PageTask
from crawler.core.urls.normalise import MAX_URL_LENGTH, normalise
from crawler.http.errors import one_line
from crawler.http.fetcher import FetchResult, is_html

_CUT = {
    LinksCut.LINKS: f"it has more than {links.MAX_LINKS:,} links; the rest was not read",
    LinksCut.CHARACTERS: (f"its links exceed {links.MAX_CHARACTERS:,} characters in total; the rest was not read"),
    LinksCut.TAGS: f"it has more than {MOST_TAGS:,} tags that may be links; the rest was not read",
    LinksCut.ANCHOR_TEXTS: (
        f"the texts of its links exceed {links.MAX_WORDS:,} characters in total; the rest was not stored"
    ),
}
_MALFORMED = {
    HrefFault.NO_HOST: "not a valid URL: no host",
    HrefFault.INVALID_HOST: "not a valid URL: invalid host",
    HrefFault.INVALID_PORT: "not a valid URL: invalid port",
    HrefFault.TOO_LONG: f"longer than {MAX_URL_LENGTH:,} characters",
    HrefFault.NO_SCHEME: "no scheme before host and port",
    HrefFault.UNKNOWN_SCHEME: "unknown scheme ",
}


def without_other_body(fetched: FetchResult) -> FetchResult:
    """The response with the outcome it has where a body that is not HTML is not read: if it is too large or truncated,
    only its content is lost."""
    if fetched.http_status is None or is_html(fetched.content_type or "text/html"):
        return fetched
    usual = of_status(fetched.http_status)
    if fetched.outcome in (usual, Outcome.MALFORMED):
        return fetched
    return msgspec.structs.replace(fetched, outcome=usual, body=b"", recorded=None, error="")


def result_of(
    task: PageTask,
    fetched: FetchResult,
    fetched_at: float,
    requests_before: int = 0,
    html: bytes | Document | None = None,
    *,
    sketches: bool = False,
    robots_token: str = "",
) -> PageResult:
    """The result of a page, with links and metadata if it is HTML (`html`, if read or parsed already); with `sketches`
    also the simhash of its text. `robots_token` is the crawler's name in directives."""
    page = _page_of(html or html_of(task, fetched), task.url, sketches)
    redirect_to = ""
    if fetched.outcome is Outcome.REDIRECT and fetched.location:
        redirect_to = normalise(fetched.location, task.url) or ""
    unchanged = is_unchanged(task, fetched.http_status)
    return PageResult(
        id=task.id,
        attempt=task.attempt,
        outcome=Outcome.UNCHANGED if unchanged else fetched.outcome,
        http_status=fetched.http_status,
        content_type=fetched.content_type,
        title=page.title,
        redirect_to=redirect_to,
        links=page.links,
        rels=page.rels,
        link_keys=link_codec.keys(page.links),
        linkage=link_codec.packed(page.links, page.occurrences, task.url),
        directives=directives_of(page.metas, fetched.robots_tags, robots_token).text,
        bytes=fetched.bytes_read,
        elapsed_ms=fetched.elapsed_ms,
        requests=requests_before + fetched.requests,
        fetched_at=fetched_at,
        retry_after=fetched.retry_after,
        etag=task.etag if unchanged else fetched.etag,  # of an unchanged page: what the server was asked about
        last_modified=task.last_modified if unchanged else fetched.last_modified,
        error=fetched.error or (_CUT[page.cut] if page.cut else _redirect_error(fetched, redirect_to)),
        headers=fetched.headers,
        first_byte_ms=fetched.first_byte_ms,
        certificate_error=fetched.certificate_error,
        facts=_with_malformed(page) if page.malformed else page.facts,
    )


def _with_malformed(page: links.PageContent) -> PageMetadata:
    """The metadata of a page, with its malformed links."""
    told = (msgspec.structs.replace(href, problem=_words_of(problem)) for href, problem in page.malformed)
    return msgspec.structs.replace(page.facts, malformed=tuple(told))


def _words_of(problem: HrefProblem) -> str:
    return _MALFORMED[problem.fault] + problem.scheme + " (it is the base of the page's links)" * problem.is_base


def _page_of(html: bytes | Document | None, url: str, sketches: bool) -> links.PageContent:
    if html is None:
        return links.NOTHING
    if isinstance(html, Document):
        return links.extract(html, url, sketches=sketches)
    return links.read_page(html, url, sketches=sketches, compiled=conf.speedups())


def _redirect_error(fetched: FetchResult, redirect_to: str) -> str:
    """Explains a redirect that cannot be followed; "" for others."""
    if redirect_to or fetched.outcome is not Outcome.REDIRECT or not fetched.location:
        return ""
    return one_line(f"it redirects to an invalid address: {fetched.location!r}")


def html_of(task: PageTask, fetched: FetchResult) -> bytes | None:
    """A page's HTML in UTF-8; None if it is not HTML, or not a success."""
    if task.kind == SITEMAP or fetched.outcome is not Outcome.SUCCESS or not fetched.body:
        return None
    if not is_html(fetched.content_type or "text/html"):
        return None
    return charsets.utf_8(fetched.body, fetched.content_type_header)
