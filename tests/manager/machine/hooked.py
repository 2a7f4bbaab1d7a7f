"""The hook of stories that have one."""

from __future__ import annotations

from typing import ClassVar

from crawler.hooks import CrawlFinished, PageClosed

NOTING = f"{__name__}.Noting"


class Noting:
    """Notes what it was called with."""

    told: ClassVar[set[tuple[str, int]]] = set()  # crawl, and a page's id or minus the round that is over

    def on_closed(self, page: PageClosed) -> None:
        self.told.add((page.crawl, page.id))

    def on_finished(self, crawl: CrawlFinished) -> None:
        self.told.add((crawl.id, -crawl.round))
