"""What a browser made of a page."""

from __future__ import annotations

import msgspec


class Resource(msgspec.Struct, frozen=True):
    """One further request of a page."""

    url: str
    kind: str  # Playwright's resource type
    status: int | None = None
    bytes: int = 0  # of the body, on the wire
    ms: int = 0
    error: str = ""  # one line; also why it was not sent


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser made of a page."""

    html: bytes = b""  # the DOM in UTF-8 whatever it says itself, doctype included; empty if it could not be read
    redirect_to: str = ""  # where a script or a refresh leads to, absolute; not followed
    links: tuple[str, ...] = ()  # given to history.pushState and replaceState, absolute
    requests: int = 0  # further requests that went out, redirects included; the document is not among them
    own_requests: int = 0  # those to the page's own host and port
    resources: tuple[Resource, ...] = ()
    console: tuple[str, ...] = ()  # errors only
    vitals: dict[str, float] = {}  # "lcp_ms" and "cls", as far as Chromium knows them
    elapsed_ms: int = 0
    error: str = ""  # one line: what was cut short
