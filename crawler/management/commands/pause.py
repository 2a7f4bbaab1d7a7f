"""`manage.py pause`: hands out nothing new of a crawl until it is resumed."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.crawls import control
from crawler.management.base import Door, add_crawl, crawl_of
from crawler.reports import text
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py pause 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is paused, by this command or before it
  1    it cannot be paused because it is over, or a service is down
  2    there is no such crawl
"""


class Command(Door):
    """Pause a crawl: what is on its way is taken in, nothing new is asked for."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        return self.tell(text.to_verb(Verb.PAUSE, control.pause(crawl.id), crawl.id))
