"""Which hosts are a crawl's own, and so may be sent its credentials.

1. The sites of its start URLs, as `core.scope` has them: "www." makes no difference, the port does.
2. With `subdomains`, the hosts below those sites.
3. The hosts a person added with `hosts`.
4. A list of URLs is no statement about whom to trust: a crawl over one has the hosts of 3 and no others.
5. Over https always. In clear text only where a person chose that: on the site of a start URL that is http itself; on
   an added host given with a port, or while every start URL is http.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from crawler.core.hosts import BELOW, host_typed
from crawler.core.urls import host_of, origin_of, site_of

_PORT = re.compile(r":([0-9]+)$")


def own_hosts(
    start_urls: Sequence[str], hosts: Iterable[str] = (), *, subdomains: bool = False, listed: bool = False
) -> tuple[str, ...]:
    """The crawl's own origins, "scheme://host[:port]" or "scheme://*.host[:port]", in order; `listed` for a crawl over
    a list of URLs. The URLs are normalised; `hosts` as in `CrawlOptions`."""
    starts = () if listed else start_urls
    clear = bool(starts) and all(url.startswith("http://") for url in starts)
    own = {origin for url in starts for origin in _of_start(url, subdomains)}
    own.update(origin for host in hosts for origin in _of_added(host, clear))
    return tuple(sorted(own))


def is_own(url: str, own: Collection[str]) -> bool:
    """Whether this normalised URL is on one of these origins."""
    origin = origin_of(url)
    scheme, host = origin[: origin.index(":")], host_of(url)
    if origin in own or f"{scheme}://{site_of(host)}" in own:
        return True
    parents = (host[at + 1 :] for at, character in enumerate(host) if character == ".")
    return any(f"{scheme}://{BELOW}{parent}" in own for parent in parents)


def _of_start(url: str, subdomains: bool) -> Iterable[str]:
    site = site_of(host_of(url))
    for scheme in ("http", "https") if url.startswith("http://") else ("https",):
        yield f"{scheme}://{site}"
        if subdomains:
            yield f"{scheme}://{BELOW}{site}"


def _of_added(typed: str, clear: bool) -> Iterable[str]:
    """The origins of "host", "host:port" or "*.host"."""
    host = host_typed(typed)
    host = host if host.startswith(BELOW) else site_of(host)
    port = _PORT.search(typed.strip())
    yield f"https://{host}"
    if port[1] != "443" if port else clear:
        yield f"http://{host}"
