"""Where a site's sitemaps are looked for."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.core.urls import normalise, origin_of

USUAL = "/sitemap.xml"


def usual_places(start_urls: Iterable[str]) -> tuple[str, ...]:
    """/sitemap.xml at the origin of each of these normalised URLs, each once."""
    return tuple(dict.fromkeys(origin_of(url) + USUAL for url in start_urls))


def named_in_robots(references: Iterable[str], origin: str) -> tuple[str, ...]:
    """The normalised URLs of an origin's sitemap lines. They should be whole (RFC 9309, 2.2.4); relative ones are
    taken for what is meant."""
    urls = (normalise(reference, f"{origin}/") for reference in references)
    return tuple(dict.fromkeys(url for url in urls if url is not None))
