"""Reads a page: in one compiled pass where that says the same as its tree, else by the tree."""

from __future__ import annotations

from crawler.core.html.links import PageContent, extract, read_scanned
from crawler.core.html.scanned_page import scan


def read_page(html: bytes, url: str, *, sketches: bool = False, compiled: bool = True) -> PageContent:
    """What `links.extract` returns for this page, in UTF-8; not `compiled`, the tree is always built."""
    page = scan(html) if compiled and not sketches else None
    content = read_scanned(page, url) if page is not None else None
    return content or extract(html, url, sketches=sketches)
