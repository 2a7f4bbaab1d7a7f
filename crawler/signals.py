"""Django signals: `page_closed`, with the `page` (`crawler.hooks.PageClosed`), and `crawl_finished`, with the `crawl`
(`crawler.hooks.CrawlFinished`).

They are sent by a worker, after the commit and at least once, as hooks are called. Connect receivers where every
process imports them, such as `ready()` of an app: what a process without them stores is not told.
"""

from __future__ import annotations

from django.dispatch import Signal

from crawler.hooks import CrawlFinished, PageClosed

page_closed = Signal()
crawl_finished = Signal()


class SendPageClosed:
    """A hook."""

    def on_closed(self, page: PageClosed) -> None:
        page_closed.send(PageClosed, page=page)


class SendCrawlFinished:
    """A hook."""

    def on_finished(self, crawl: CrawlFinished) -> None:
        crawl_finished.send(CrawlFinished, crawl=crawl)


def connected() -> tuple[str, ...]:
    """The names of the hooks that send a signal which has a receiver."""
    hooks = ((page_closed, SendPageClosed), (crawl_finished, SendCrawlFinished))
    return tuple(f"{__name__}.{hook.__name__}" for signal, hook in hooks if signal.has_listeners())
