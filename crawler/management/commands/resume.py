"""`manage.py resume`: goes on with a crawl that was paused."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.crawls import control
from crawler.management.base import Door, add_crawl, crawl_of
from crawler.reports import text
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py resume 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is running, by this command or before it
  1    it cannot go on because it is over, or a service is down
  2    there is no such crawl
"""


class Command(Door):
    """Go on with a paused crawl, and do not wait for it (bin/crawl --resume ID does)."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        code = self.tell(text.to_verb(Verb.RESUME, control.resume(crawl.id), crawl.id))
        self.mention_workers()
        return code
