"""Which URLs belong to a crawl, and which of the others are links that leave it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import msgspec

from crawler.core.options.catalogue import OPTIONS, CrawlOptions
from crawler.core.text.patterns import Patterns
from crawler.core.urls.normalise import host_of, parse_user_host, parse_user_prefix, site_of
from crawler.core.urls.query_params import Parameters

_BARS = [(name, option.bars) for name, option in OPTIONS.items() if option.bars]


class Side(Enum):
    """Where a link leads, relative to the crawl."""

    INSIDE = "inside"  # a page of the crawl
    OUTSIDE = "outside"  # an external link: recorded, or requested once, but never crawled
    NOWHERE = "nowhere"  # excluded by a pattern: never requested


class Scope(msgspec.Struct, frozen=True):
    """The pages that belong to a crawl.

    1. A start URL always belongs.
    2. A URL that matches an exclude pattern does not belong, and is no external link either: it must never be
       requested. Nor is one that an option bars, such as a link that logs out.
    3. The host and port must be of a start URL, or of one of the further hosts. http and https are the same site
       when both use their own port, and a leading "www." makes no difference on either side. With `subdomains`, hosts
       below the start URLs' belong too: below the site, so that www.example.com includes docs.example.com. A further
       host "*.example.org" includes the hosts below example.org, but not example.org.
    4. Where there are path prefixes, the path must begin with one of them. "/docs/" includes "/docs".
    5. Where there are include patterns, the URL must match one of them.

    A URL that fails at 3, 4 or 5 is an external link. Patterns and prefixes are matched without dropped parameters.
    """

    starts: frozenset[str]  # normalised URLs
    sites: frozenset[str]  # host[:port] without "www."
    below: tuple[str, ...]  # endings of the hosts below a site: ".example.com"
    prefixes: tuple[str, ...]
    include: Patterns
    exclude: Patterns
    dropped: Parameters
    barred: tuple[Callable[[str], bool], ...] = ()

    @classmethod
    def of(cls, start_urls: Sequence[str], options: CrawlOptions) -> Scope:
        """The scope of a crawl over these normalised start URLs. The options have passed `check_options`."""
        starts = frozenset(site_of(host_of(url)) for url in start_urls)
        hosts = [parse_user_host(typed) for typed in options.hosts]
        below = [f".{site}" for site in sorted(starts)] if options.subdomains else []
        return cls(
            starts=frozenset(start_urls),
            sites=starts | {site_of(host) for host in hosts if not host.startswith("*.")},
            below=(*below, *(host[1:] for host in hosts if host.startswith("*."))),
            prefixes=tuple(parse_user_prefix(typed) for typed in options.path_prefixes),
            include=Patterns.of(options.include),
            exclude=Patterns.of(options.exclude),
            dropped=Parameters.of(options.drop_parameters),
            barred=tuple(bars for name, bars in _BARS if getattr(options, name)),
        )

    def tidied(self, url: str) -> str:
        """The normalised URL as the crawl requests it: without dropped parameters, unless it is on another host."""
        if "?" not in url and ";" not in url:
            return url
        return self.dropped.without(url) if self.is_on_site(url) else url

    def side(self, url: str) -> Side:
        """The side of this normalised and tidied URL."""
        if url in self.starts:
            return Side.INSIDE
        if self.exclude.found_in(url) or (self.barred and any(bars(url) for bars in self.barred)):
            return Side.NOWHERE
        if not self.is_on_site(url) or not self._is_taken(url):
            return Side.OUTSIDE
        return Side.INSIDE

    def holds(self, url: str) -> bool:
        """Whether this normalised URL belongs to the crawl."""
        return self.side(url) is Side.INSIDE

    def is_on_site(self, url: str) -> bool:
        """Whether this normalised URL is on a host of the site, in scope or not."""
        host = host_of(url)
        return host in self.sites or site_of(host) in self.sites or host.endswith(self.below)

    def _is_taken(self, url: str) -> bool:
        if self.prefixes:
            path = url[url.index("/", 8) :].partition("?")[0]
            if not path.startswith(self.prefixes) and f"{path}/" not in self.prefixes:
                return False
        return not self.include or self.include.found_in(url)
