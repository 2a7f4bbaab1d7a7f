"""`manage.py new-hook`: writes the beginning of a hook, with its test."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from crawler.core.errors import BadInput
from crawler.management.base import CrawlerCommand, Exit, ExitWith

_MODULE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

HOOK = '''\
"""A hook of the crawler. Name it in its settings: CRAWLER_HOOKS=%(module)s.%(class)s"""

from __future__ import annotations

from crawler.hooks import SKIP, CrawlFinished, Found, PageClosed, PageSeen, Response


class %(class)s:
    """One object in each worker; several threads call it at once. Delete the methods you do not need."""

    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        """Called with each HTML page, before it is stored."""
        if "/imprint" in page.url:
            return SKIP  # do not follow its links
        return Found(fields={"letters": len(response.text)}, links=[])

    def on_closed(self, page: PageClosed) -> None:
        """Called at least once for each page that was requested, after it is stored."""

    def on_finished(self, crawl: CrawlFinished) -> None:
        """Called at least once when a crawl is over."""
'''

TEST = '''\
"""What the hook does with pages. Run it in the folder of the crawler: python -m pytest %(folder)s"""

from __future__ import annotations

from crawler.hooks import SKIP, CrawlFinished, Found, PageClosed, PageSeen, Response
from %(module)s import %(class)s

RESPONSE = Response(200, "Content-Type: text/html", b"<h1>A page</h1>")


def page(path: str) -> PageSeen:
    return PageSeen(id=1, crawl="0", url=f"https://example.com{path}")


def test_it_counts_letters() -> None:
    assert %(class)s().on_page(page("/"), RESPONSE) == Found(fields={"letters": 15}, links=[])


def test_it_does_not_follow_the_imprint() -> None:
    assert %(class)s().on_page(page("/imprint"), RESPONSE) is SKIP


def test_the_other_methods_can_be_called() -> None:
    hook = %(class)s()
    hook.on_closed(PageClosed(id=1, crawl="0", url="https://example.com/", outcome="2xx"))
    hook.on_finished(CrawlFinished(id="0", state="finished"))
'''


class Command(CrawlerCommand):
    """Write a hook to start from: a module with a class, and a passing test.

    examples:
      python manage.py new-hook my_prices                       writes my_prices.py and test_my_prices.py here
      python manage.py new-hook my_prices --folder /srv/hooks
      python -m pytest test_my_prices.py                        runs the test as it is

    docs/hooks.md says what the methods may do.

    exit codes:
      0    both files were written
      1    one of them exists, or the folder cannot be written to
      2    invalid arguments
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the module, such as my_prices for the class MyPrices")
        parser.add_argument("--folder", metavar="FOLDER", default=".", help="where the files go (default: here)")

    def perform(self, options: dict[str, Any]) -> int:
        module, folder = str(options["name"]), Path(options["folder"])
        if not _MODULE_NAME.fullmatch(module) or module == "crawler":
            raise BadInput("name", f"{module!r} is not a valid module name; write one such as my_prices.")
        of_class = "".join(word.capitalize() for word in module.split("_"))
        words = {"module": module, "class": of_class, "folder": folder}
        files = {folder / f"{module}.py": HOOK % words, folder / f"test_{module}.py": TEST % words}
        for file in files:
            if file.exists():
                raise ExitWith(Exit.NOT_DONE, f"{file} exists, so nothing was written; choose another name or folder.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, text in files.items():
                with file.open("x") as new:
                    new.write(text)
        except OSError as error:
            why = f"{error.filename or folder} could not be written: {error.strerror}."
            raise ExitWith(Exit.NOT_DONE, f"{why} Choose a writable folder.") from None
        self.print(f"Wrote {' and '.join(map(str, files))}. Name it: CRAWLER_HOOKS={module}.{of_class}\n")
        return Exit.DONE
