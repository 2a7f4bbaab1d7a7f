"""Which URLs belong to a crawl."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crawler.core.options import CrawlOptions
from crawler.core.urls import host_of, site_of


@dataclass(frozen=True, slots=True)
class Scope:
    """The pages a crawl may take.

    1. A start URL always belongs.
    2. The host and port must be those of a start URL. http and https are the same site when both use their own port,
       and a leading "www." makes no difference on either side. With `subdomains`, hosts below belong too: below the
       site, so that www.example.com brings docs.example.com.
    3. A URL in which an exclude pattern is found does not belong.
    4. Where there are include patterns, one of them must be found in the URL.
    """

    starts: frozenset[str]  # normalised URLs
    sites: frozenset[str]  # host[:port] without "www."
    below: tuple[str, ...]  # endings of the hosts below a site: ".example.com"; empty without `subdomains`
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, start_urls: Sequence[str], options: CrawlOptions) -> Scope:
        """The scope of a crawl over these normalised start URLs. The patterns have passed `check_options`."""
        sites = frozenset(site_of(host_of(url)) for url in start_urls)
        return cls(
            starts=frozenset(start_urls),
            sites=sites,
            below=tuple(f".{site}" for site in sorted(sites)) if options.subdomains else (),
            include=tuple(re.compile(pattern) for pattern in options.include),
            exclude=tuple(re.compile(pattern) for pattern in options.exclude),
        )

    def holds(self, url: str) -> bool:
        """Whether this normalised URL belongs to the crawl."""
        if url in self.starts:
            return True
        if not self.is_on_site(url):
            return False
        if any(pattern.search(url) for pattern in self.exclude):
            return False
        return not self.include or any(pattern.search(url) for pattern in self.include)

    def is_on_site(self, url: str) -> bool:
        """Whether this normalised URL lies on a host of the site, wanted or not."""
        host = host_of(url)
        return host in self.sites or site_of(host) in self.sites or host.endswith(self.below)
