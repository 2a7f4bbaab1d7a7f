"""The presets of a crawl, and the options each of them sets."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import assert_never
from urllib.parse import urlsplit

import msgspec

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions

NO_SECTION = (
    "{} is the whole site, not a section. Enter an address in a folder, such as https://example.com/docs/, or "
    "choose Whole site."
)


class Preset(StrEnum):
    """What the user wants to crawl."""

    SITE = "site"  # all pages found by links from the start URL
    SECTION = "section"  # of those, the pages in the start URL's folder
    LIST = "list"  # the given URLs; their links are not followed
    SITEMAP = "sitemap"  # the pages in the site's sitemaps; their links are not followed


def applied(preset: Preset, options: CrawlOptions, start_urls: Sequence[str]) -> CrawlOptions:
    """The options, with the preset's added. The URLs are normalised. BadInput when a start URL has no folder."""
    match preset:
        case Preset.SITE:
            return options
        case Preset.SECTION:
            return msgspec.structs.replace(options, path_prefixes=(*options.path_prefixes, *sections(start_urls)))
        case Preset.LIST:
            return msgspec.structs.replace(options, recursive=False)
        case Preset.SITEMAP:
            return msgspec.structs.replace(options, recursive=False, sitemaps=True)
    assert_never(preset)


def found_in(options: CrawlOptions, start_urls: Sequence[str], *, listed: bool) -> tuple[Preset, CrawlOptions]:
    """The preset of these options and the other options: the inverse of `applied`."""
    if listed:
        return Preset.LIST, msgspec.structs.replace(options, recursive=True)
    if not options.recursive:
        preset = Preset.SITEMAP if options.sitemaps else Preset.LIST
        return preset, msgspec.structs.replace(options, recursive=True, sitemaps=False)
    if options.path_prefixes and options.path_prefixes == _sections(start_urls):
        return Preset.SECTION, msgspec.structs.replace(options, path_prefixes=())
    return Preset.SITE, options


def sections(start_urls: Sequence[str]) -> tuple[str, ...]:
    """The folders of these URLs, each once; BadInput when one of them is the root."""
    for url in start_urls:
        if _section(url) == "/":
            raise BadInput("start_urls", NO_SECTION.format(url))
    return _sections(start_urls)


def _sections(start_urls: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(_section, start_urls)))


def _section(url: str) -> str:
    """ "/docs/" for /docs/, /docs/intro.html, /docs/intro, and for /docs, which is a folder and no page of the root."""
    path = urlsplit(url).path or "/"
    folder, _, last = path.rpartition("/")
    if not folder and last and "." not in last:
        return f"/{last}/"
    return f"{folder}/"
