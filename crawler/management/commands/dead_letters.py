"""`manage.py dead-letters`: lists the dead letters of all crawls, or of one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.management import display
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.letters import add_filters, chosen_of, letters_of
from crawler.reports import dead_letters

ROWS_PER_FETCH = 1000  # in memory


class Command(CrawlerCommand):
    """List dead letters: pages that failed and that a retry may fetch. Without a crawl, the newest come first.

    examples:
      python manage.py dead-letters
      python manage.py dead-letters --since 2h --outcome timeout
      python manage.py dead-letters --counts
      python manage.py dead-letters 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --json | head -1

    `manage.py retry-failed` takes the same arguments and retries them.

    exit codes:
      0    they are on stdout, or there are none
      1    the database is down
      2    invalid arguments, or there is no such crawl
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--counts", action="store_true", help="print the number of each outcome")
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")
        add_filters(parser)

    def perform(self, options: dict[str, Any]) -> int:
        chosen = chosen_of(options)
        letters = letters_of(chosen)
        if options["counts"]:
            rows = list(dead_letters.counts(letters).items())
            self.print_rows(("outcome", "pages"), rows, as_json=options["json"])
        elif options["json"]:
            for letter in letters.iterator(chunk_size=ROWS_PER_FETCH):
                self.print_json(display.dead_letter(letter))
        elif letters.exists():
            is_of_all = chosen.crawl is None
            self.print(display.dead_letter_head(of_all=is_of_all))
            for letter in letters.iterator(chunk_size=ROWS_PER_FETCH):
                self.print(display.dead_letter_line(letter, of_all=is_of_all))
        else:
            self.say("There are no dead letters.")
        return Exit.DONE
