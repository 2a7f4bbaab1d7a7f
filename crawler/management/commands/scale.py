"""`manage.py scale`: how many workers would be useful now, and why."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.management.base import CrawlerCommand, Exit
from crawler.models import Crawl
from crawler.reports import scale


class Command(CrawlerCommand):
    """Show the number of useful and running workers, and the work each running crawl has.

    examples:
      python manage.py scale
      python manage.py scale --json

    exit codes:
      0    printed
      1    a service is down
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print a JSON object")

    def perform(self, options: dict[str, Any]) -> int:
        found = scale.plain(scale.scale_of(scale.running_crawls()), Crawl.objects.all())
        if options["json"]:
            self.print_json(found)
        else:
            self.print(scale.text(found))
        return Exit.DONE
