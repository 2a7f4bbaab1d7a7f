"""A process of Scrapy for tests of the protocol: it requests each page as it is, and no Scrapy runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from crawler.capabilities.scrapy import driver, messages


class Scrapy:
    """Takes the place of `driver.visit`. `reach` is called when it has a page; what that raises befalls the page."""

    def __init__(self, reach: Callable[[], None]) -> None:
        self._reach = reach
        self.dies_once = False  # with the next page

    def visit(self, key: Hashable, begin: messages.Begin, url: str, request: str = "") -> _Visit:
        self._reach()
        dies, self.dies_once = self.dies_once, False
        return _Visit(url, dies=dies)


class _Visit:
    has_begun = True

    def __init__(self, url: str, *, dies: bool) -> None:
        self._url, self._dies, self._is_answered = url, dies, False
        self._status = 0

    def next(self, seconds: float) -> messages.Request | messages.PageDone:
        if self._dies:
            raise driver.ScrapyEnded(driver.ENDED)
        if not self._is_answered:
            return messages.Request(page=1, request=1, method="GET", url=self._url)
        return messages.PageDone(page=1, request=1, status=self._status)

    def answer(self, request: int, *, status: int = 0, **more: object) -> None:
        self._is_answered, self._status = True, status

    def end(self) -> None:
        """Nothing is waited for."""
