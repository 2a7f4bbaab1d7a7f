"""`manage.py dead-letters`: lists the dead letters of a crawl."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.management import display
from crawler.management.base import CrawlerCommand, Exit, add_crawl, crawl_of
from crawler.reports.links import dead_letters

ROWS_PER_FETCH = 1000  # in memory

EXAMPLES = """\
examples:
  python manage.py dead-letters 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
  python manage.py dead-letters 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --json | head -1

`manage.py retry-failed ID` retries them.
"""


class Command(CrawlerCommand):
    """List the dead letters of a crawl: pages that failed and that a retry may fetch."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def perform(self, options: dict[str, Any]) -> int:
        letters = dead_letters(crawl_of(options["id"]))
        if options["json"]:
            for letter in letters.iterator(chunk_size=ROWS_PER_FETCH):
                self.print_json(display.dead_letter(letter))
        elif letters.exists():
            self.print(display.DEAD_LETTER_HEAD)
            for letter in letters.iterator(chunk_size=ROWS_PER_FETCH):
                self.print(display.dead_letter_line(letter))
        else:
            self.say("There are no dead letters.")
        return Exit.DONE
