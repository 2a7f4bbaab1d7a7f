"""`manage.py why`: why a crawl is not finished; also wakes it if it shows no activity."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from crawler.core.errors import ServiceDown
from crawler.crawls.reconcile import reconcile
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.reports import diagnosis_text
from crawler.reports.diagnosis import why_of


class Command(CrawlerCommand):
    """Show why a crawl is not finished: its open pages, their workers, and the reasons they wait.

    examples:
      python manage.py why 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
      python manage.py why 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --json

    exit codes:
      0    the report was printed
      1    the database is down
      2    there is no such crawl
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("--json", action="store_true", help="print a JSON object")

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        with suppress(ServiceDown, RedisError):  # the report works without Redis, and says so
            reconcile()
        report = why_of(crawl)
        self.print(json.dumps(report) + "\n" if options["json"] else diagnosis_text.text(report))
        return Exit.DONE
