"""How the reading of a sitemap can end before the file does."""

from __future__ import annotations


class Break(Exception):
    """Reading ends here, and the message says why. What was read before counts."""


class NotASitemap(Break):
    """The file is something else altogether."""
