"""What a browser made of a page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from crawler.capabilities.browser.page_load import BLOCKED, FAILED, PageLoad, Resource, page_load
from crawler.http.warc_record import RecordedExchange


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser made of a page."""

    html: bytes = b""  # the DOM in UTF-8 whatever it says itself, doctype included; empty if it could not be read
    redirect_to: str = ""  # where a script or a refresh leads to, absolute; not followed
    links: tuple[str, ...] = ()  # given to history.pushState and replaceState, absolute
    requests: int = 0  # further requests that went out, redirects included; the document is not among them
    own_requests: int = 0  # those to the page's own host
    resources: tuple[Resource, ...] = ()
    more_blocked: int = 0  # requests that were not sent, and are not in the list
    recorded: tuple[RecordedExchange, ...] = ()  # if they are to be
    console: tuple[str, ...] = ()  # errors only, the first of them
    console_errors: int = 0  # all of them
    vitals: dict[str, float] = {}  # "lcp_ms" and "cls", as far as Chromium knows them
    pictures: dict[str, bytes | str] = {}  # content format -> the picture, or one line: why there is none
    elapsed_ms: int = 0
    error: str = ""  # one line: what was cut short

    @property
    def load(self) -> PageLoad:
        return page_load(
            self.resources,
            self.console,
            self.vitals,
            console_errors=self.console_errors,
            more_blocked=self.more_blocked,
        )


DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def with_refusals(rendering: Rendering, refused: Sequence[str]) -> Rendering:
    """The rendering, in which requests without a response are blocked ones where the proxy refused their target.
    `refused`: "host:port: why" each."""
    if not refused:
        return rendering
    reasons = dict(line.split(": ", 1) for line in reversed(refused))
    resources = tuple(_judged(resource, reasons.get(_target(resource.url), "")) for resource in rendering.resources)
    return msgspec.structs.replace(rendering, resources=resources)


def _judged(resource: Resource, why: str) -> Resource:
    if not why or resource.status is not None or resource.problem != FAILED:
        return resource
    return msgspec.structs.replace(resource, error=why, problem=BLOCKED)


def _target(url: str) -> str:
    """ "host:port", as the proxy names it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
