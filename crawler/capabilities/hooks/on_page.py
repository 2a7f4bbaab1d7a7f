"""The `on_page` hooks of a crawl on one page: their fields and links become part of the page's result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from crawler.capabilities.hooks.calls import call
from crawler.capabilities.hooks.loading import ON_PAGE, Hook, with_method
from crawler.core.pages.code_calls import CodeCall, plain_fields, type_of
from crawler.core.protocol.added_links import with_links
from crawler.core.protocol.messages import PageResult
from crawler.hooks import Found, PageSeen, Response

MAX_LINKS = 10_000  # of one call


class PageHooks(msgspec.Struct, frozen=True):
    """The hooks with `on_page`, for the pages of one crawl."""

    crawl: str = ""  # UUID
    hooks: tuple[Hook, ...] = ()

    @classmethod
    def of(cls, crawl: str) -> PageHooks:
        return cls(crawl, with_method(ON_PAGE))

    def __bool__(self) -> bool:
        return bool(self.hooks)

    def applied(self, result: PageResult, url: str, html: bytes, *, kept: bool = False) -> PageResult:
        """The result of an HTML page with what the hooks found. `html` is in UTF-8."""
        response = Response(result.http_status or 0, result.headers, html, result.fetched_at, kept)
        calls, fields, links, follow = list[CodeCall](), dict(result.facts.fields), list[str](), True
        for hook in self.hooks:
            page = PageSeen(result.id, self.crawl, url, result.title, dict(fields), result.links)
            called = call(hook, ON_PAGE, _checked, page, response)
            found = called.value or Found()
            types = {name: type_of(value) for name, value in found.fields.items()}
            calls.append(CodeCall(name=hook.name, error=called.error, timed_out=called.timed_out, fields=types))
            fields.update(found.fields)
            links += found.links
            follow = follow and found.follow
        if fields != result.facts.fields:
            result = msgspec.structs.replace(result, facts=msgspec.structs.replace(result.facts, fields=fields))
        result = with_links(result, url, links)
        if not follow:  # they stay among the page's links, for reports
            result = msgspec.structs.replace(result, links=())
        return msgspec.structs.replace(result, code_calls=tuple(calls))


def _checked(returned: Any) -> Found:
    """What a hook returned, as plain values; called in its thread. Raises TypeError or ValueError with the reason."""
    if returned is None:
        return Found()
    if not isinstance(returned, Found):
        raise TypeError(f"on_page returned {type(returned).__name__}; return None, SKIP or Found(...)")
    return Found(plain_fields(returned.fields), _texts(returned.links), bool(returned.follow))


def _texts(links: Sequence[str]) -> list[str]:
    texts = list(links)
    if isinstance(links, str) or not all(isinstance(link, str) for link in texts):
        raise TypeError("the links that on_page returns must be a list of texts")
    if len(texts) > MAX_LINKS:
        raise ValueError(f"it found {len(texts):,} links; a hook can add {MAX_LINKS:,} to a page")
    return texts
