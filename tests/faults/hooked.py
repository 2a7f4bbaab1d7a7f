"""The hooks of scenes that have one, of one method each: any further method would change what other rows leave."""

from urllib.parse import urljoin
from urllib.request import urlopen

from crawler.hooks import CrawlFinished, PageClosed, PageSeen, Response
from tests.faults.scenes import HOOK


class Reading:
    """Finds nothing."""

    def on_page(self, page: PageSeen, response: Response) -> None:
        """See `actor.Actor._look_inside`."""


class Noting:
    """Tells the site of each page that is closed, where notices are sent too."""

    def on_closed(self, page: PageClosed) -> None:
        _tell(page.url)


class Telling:
    """Tells it that the crawl is over."""

    def on_finished(self, crawl: CrawlFinished) -> None:
        _tell(crawl.start_urls[0])


def _tell(url: str) -> None:
    with urlopen(urljoin(url, HOOK)):
        pass
