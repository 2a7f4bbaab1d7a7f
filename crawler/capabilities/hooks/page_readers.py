"""Hooks with `on_page` read kept HTML again."""

from __future__ import annotations

from functools import partial

from crawler.capabilities.hooks import counts
from crawler.capabilities.hooks.loading import ON_PAGE, names_with
from crawler.capabilities.hooks.on_page import PageHooks
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.page_readers import PageReader


def _read(crawl: str, result: PageResult, url: str, html: bytes) -> PageResult:
    return PageHooks.of(crawl).applied(result, url, html, kept=True)


PAGE_READERS = (
    PageReader(
        title="the hooks",
        how="name a hook with on_page in CRAWLER_HOOKS",
        names=partial(names_with, ON_PAGE),
        read=_read,
        store=partial(counts.store, method=counts.ON_KEPT_PAGE),
        found=counts.found,
    ),
)
