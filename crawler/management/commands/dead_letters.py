"""`manage.py dead-letters`: lists failed pages of a crawl that another attempt might fetch."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.management import display
from crawler.management.base import Door, Exit, add_crawl, crawl_of
from crawler.reports.links import dead_letters

CHUNK = 1000  # rows in memory at a time

EXAMPLES = """\
examples:
  python manage.py dead-letters 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
  python manage.py dead-letters 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --json | head -1

`manage.py retry-failed ID` retries them.
"""


class Command(Door):
    """List the dead letters of a crawl: failed pages that another attempt might fetch."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")

    def perform(self, options: dict[str, Any]) -> int:
        letters = dead_letters(crawl_of(options["id"]))
        if options["json"]:
            for letter in letters.iterator(chunk_size=CHUNK):
                self.print(json.dumps(display.dead_letter(letter)) + "\n")
        elif letters.exists():
            self.print(display.DEAD_LETTER_HEAD)
            for letter in letters.iterator(chunk_size=CHUNK):
                self.print(display.dead_letter_line(letter))
        else:
            self.say("There is no dead letter.")
        return Exit.DONE
