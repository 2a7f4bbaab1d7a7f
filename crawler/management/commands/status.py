"""`manage.py status`: the newest crawls, or the progress of one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler import clock
from crawler.command_names import as_typed
from crawler.management import display
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import crawl_of
from crawler.models import Crawl
from crawler.reports import queue_figures, text
from crawler.reports.diagnosis import stands_still, waits_because
from crawler.reports.diagnosis_facts import held_because
from crawler.reports.progress import progress_of

MAX_LISTED = 20  # crawls in the list


class Command(CrawlerCommand):
    """Show the newest crawls, or with an ID the progress and receipt of that crawl.

    examples:
      python manage.py status
      python manage.py status 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --json

    exit codes:
      0    printed
      1    the database is down
      2    there is no such crawl
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", nargs="?", metavar="ID", help="a crawl: ID, site or @last; default: list the newest")
        parser.add_argument("--json", action="store_true", help="print a JSON object (without ID a list of them)")

    def perform(self, options: dict[str, Any]) -> int:
        if options["id"]:
            self._show(crawl_of(options["id"]), options["json"])
        else:
            self._list(options["json"])
        return Exit.DONE

    def _show(self, crawl: Crawl, as_json: bool) -> None:
        progress = progress_of(crawl, clock.epoch_seconds())
        if as_json:
            self.print_json(progress)
            return
        self.print(text.receipt_table(progress["receipt"]))
        if not crawl.is_over:
            self.print(f"Now: {display.progress_line(progress)}\n")
            now = clock.epoch_seconds()
            if queue := queue_figures.line(queue_figures.queue_figures(crawl, now)):
                self.print(f"{queue}\n")
            if why := held_because(crawl, now) or (waits_because(crawl) if stands_still(crawl, now) else ""):
                self.print(f"{why}\n")

    def _list(self, as_json: bool) -> None:
        crawls = list(Crawl.objects.order_by("-created_at")[:MAX_LISTED])
        if as_json:
            now = clock.epoch_seconds()
            self.print_json([progress_of(crawl, now) for crawl in crawls])
        elif crawls:
            self.print(display.crawl_table(crawls))
        else:
            self.print(as_typed("There are no crawls yet. Start one: bin/crawl https://example.com/\n"))
