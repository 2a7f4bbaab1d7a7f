"""One entry of a sitemap, as it is written there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The texts of one entry, stripped; None where the file does not say."""

    loc: str | None = None
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    alternate: tuple[str, ...] = ()  # the same page in other languages
    is_sitemap: bool = False
