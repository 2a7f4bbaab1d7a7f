"""Typed access to the settings of Scrapy."""

from __future__ import annotations

from django.conf import settings


def spiders() -> tuple[str, ...]:
    """The dotted names of the spiders that users may choose."""
    return tuple(settings.CRAWLER_SPIDERS)
