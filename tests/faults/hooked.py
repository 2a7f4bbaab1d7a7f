"""The hook of scenes that have one."""

from __future__ import annotations

from urllib.request import urlopen

from crawler.hooks import CrawlFinished
from tests.faults.scenes import HOOK


class Telling:
    """Tells the site that the crawl is over, where notices are sent too."""

    def on_finished(self, crawl: CrawlFinished) -> None:
        with urlopen(f"{crawl.start_urls[0].rstrip('/')}{HOOK}"):
            pass
