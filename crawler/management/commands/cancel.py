"""`manage.py cancel`: ends a crawl before it is finished."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.crawls import control
from crawler.management.base import Door, add_crawl, crawl_of
from crawler.reports import text
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py cancel 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is cancelled, by this command or before it
  1    it is finished, so that there is nothing to cancel, or a service is down
  2    there is no such crawl
"""


class Command(Door):
    """Cancel a crawl: pages that are still open close as cancelled; what was fetched stays."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        return self.tell(text.to_verb(Verb.CANCEL, control.cancel(crawl.id), crawl.id))
