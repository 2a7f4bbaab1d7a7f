"""The `on_page` hooks of a crawl on one page: their fields and links become part of the page's result."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from crawler.capabilities.hooks.calls import call
from crawler.capabilities.hooks.loading import ON_PAGE, Hook, with_method
from crawler.capabilities.hooks.types import Found, PageSeen, Response
from crawler.core.html import link_codec
from crawler.core.html.link_codec import Occurrences
from crawler.core.pages.hook_calls import HookCall, type_of
from crawler.core.protocol.messages import PageResult
from crawler.core.urls.normalise import normalise

MAX_LINKS = 10_000  # of one call
MAX_FIELDS = 50  # the same
MAX_BYTES = 200_000  # of its fields, as JSON

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")  # as that of an extraction rule

_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.decode


@dataclass(frozen=True)
class PageHooks:
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
        calls, fields, links, follow = list[HookCall](), dict(result.facts.fields), list[str](), True
        for hook in self.hooks:
            page = PageSeen(result.id, self.crawl, url, result.title, dict(fields), result.links)
            called = call(hook, ON_PAGE, _checked, page, response)
            found = called.value or Found()
            types = {name: type_of(value) for name, value in found.fields.items()}
            calls.append(HookCall(hook=hook.name, error=called.error, timed_out=called.timed_out, fields=types))
            fields.update(found.fields)
            links += found.links
            follow = follow and found.follow
        if fields != result.facts.fields:
            result = msgspec.structs.replace(result, facts=msgspec.structs.replace(result.facts, fields=fields))
        result = with_links(result, url, links)
        if not follow:  # they stay among the page's links, for reports
            result = msgspec.structs.replace(result, links=())
        return msgspec.structs.replace(result, hooks=tuple(calls))


def _checked(returned: Any) -> Found:
    """What a hook returned, as plain values; called in its thread. Raises TypeError or ValueError with the reason."""
    if returned is None:
        return Found()
    if not isinstance(returned, Found):
        raise TypeError(f"on_page returned {type(returned).__name__}; return None, SKIP or Found(...)")
    return Found(plain_fields(returned.fields), _texts(returned.links), bool(returned.follow))


def plain_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    named = dict(fields)
    for name in named:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a field: it begins with a letter and has letters, digits and _")
    if len(named) > MAX_FIELDS:
        raise ValueError(f"it found {len(named)} fields; a page can have {MAX_FIELDS} of a hook")
    encoded = _encode(named)
    if len(encoded) > MAX_BYTES:
        raise ValueError(f"its fields have {len(encoded):,} bytes as JSON; a page can have {MAX_BYTES:,} of a hook")
    plain: dict[str, Any] = _decode(encoded)  # dates, decimals and dataclasses are what JSON makes of them
    msgspec.msgpack.encode(plain)  # an integer beyond 64 bits cannot be reported
    return plain


def _texts(links: Sequence[str]) -> list[str]:
    texts = list(links)
    if isinstance(links, str) or not all(isinstance(link, str) for link in texts):
        raise TypeError("the links that on_page returns must be a list of texts")
    if len(texts) > MAX_LINKS:
        raise ValueError(f"it found {len(texts):,} links; a page can have {MAX_LINKS:,} of a hook")
    return texts


def with_links(result: PageResult, url: str, links: Sequence[str]) -> PageResult:
    """The result with further links, which have no text. What is no web address is left out."""
    known, found = set(result.links), (normalise(link, url) for link in links)
    new = [link for link in dict.fromkeys(found) if link and link not in known]
    if not new:
        return result
    targets = (*result.links, *new)
    places = {target: place for place, target in enumerate(targets)}
    before = link_codec.unpacked(result.linkage, url)
    occurrences = Occurrences(
        [*(places[link.url] for link in before), *(places[link] for link in new)],
        [*(link.text for link in before), *("" for _ in new)],
        {at: link.rel for at, link in enumerate(before) if link.rel},
    )
    return msgspec.structs.replace(
        result,
        links=targets,
        link_keys=link_codec.keys(targets),
        linkage=link_codec.packed(targets, occurrences, url),
    )
