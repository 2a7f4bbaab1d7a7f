"""Hooks as an operator might write them, good and bad. `NAME` is the dotted name of a class."""

import os
import sys
import threading
from datetime import date
from pathlib import Path

from crawler.hooks import SKIP, CrawlFinished, Found, PageClosed, PageSeen, Response


def name_of(of_class: type) -> str:
    return f"{of_class.__module__}.{of_class.__name__}"


class Counting:
    """Finds fields of each type, and a link that no page has."""

    def on_page(self, page: PageSeen, response: Response) -> Found:
        fields = {"letters": len(response.text), "path": page.url.rpartition("/")[2], "seen": date(2026, 11, 23)}
        return Found(
            {**fields, "is_home": page.url.endswith("/"), "both": [1, "a"]}, ["/hidden", "mailto:me@example.com"]
        )


class Skipping:
    """Follows no link of the page /a."""

    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        return SKIP if page.url.endswith("/a") else None


class Raising:
    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        raise ValueError(f"no price on {page.url}")


class Exiting:
    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        sys.exit(3)


class Hanging:
    """Waits for `released`."""

    released = threading.Event()

    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        self.released.wait(60)
        return None


class HangingOnce(Hanging):
    """On the page /a alone."""

    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        return super().on_page(page, response) if page.url.endswith("/a") else None


class Misnaming:
    def on_page(self, page: PageSeen, response: Response) -> Found:
        return Found({"a name": 1})


class Returning:
    """Returns what its test puts here."""

    value: object = None

    def on_page(self, page: PageSeen, response: Response) -> object:
        return self.value


class Unmakeable:
    def __init__(self) -> None:
        raise OSError("no file")

    def on_page(self, page: PageSeen, response: Response) -> None:
        return None


class Idle:
    """Has none of the methods."""


class Noting:
    """Writes a line for each call into the file HOOK_NOTES."""

    def on_closed(self, page: PageClosed) -> None:
        self._note(f"closed {page.url} {page.outcome} {page.fields.get('path', '-')}")

    def on_finished(self, crawl: CrawlFinished) -> None:
        self._note(f"{crawl.state} {crawl.receipt['discovered']}")

    def _note(self, line: str) -> None:
        with Path(os.environ["HOOK_NOTES"]).open("a") as file:
            file.write(f"{line}\n")
