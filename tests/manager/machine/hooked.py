"""The hook of stories that have one."""

from collections.abc import Callable
from typing import ClassVar

from crawler.hooks import CrawlFinished, Found, PageClosed, PageSeen, Response

NOTING = f"{__name__}.Noting"
ON_PAGE = "on_page: called"  # a moment of a fetch job, as crash points are
FOUND = {"seen": True}  # on each page


class Noting:
    """Notes what it was called with after the commit; before it, it may be the death of its worker."""

    told: ClassVar[set[tuple[str, int]]] = set()  # crawl, and a page's id or minus the round that is over
    reach: ClassVar[Callable[[str], None]]  # it is at this moment now

    @classmethod
    def begin_anew(cls, reach: Callable[[str], None]) -> None:
        cls.told.clear()
        cls.reach = reach

    def on_page(self, page: PageSeen, response: Response) -> Found:
        type(self).reach(ON_PAGE)
        return Found(FOUND)

    def on_closed(self, page: PageClosed) -> None:
        self.told.add((page.crawl, page.id))

    def on_finished(self, crawl: CrawlFinished) -> None:
        self.told.add((crawl.id, -crawl.round))
