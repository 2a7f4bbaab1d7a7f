"""`manage.py change`: changes the options of a crawl that is under way."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.core.access.reach import OPERATOR
from crawler.core.errors import BadInput
from crawler.crawls.change import change
from crawler.management.base import CrawlerCommand
from crawler.management.crawl_options import add_changeable, changes
from crawler.management.crawls import add_crawl, crawl_of
from crawler.reports import adding


class Command(CrawlerCommand):
    """Change the options of an unfinished crawl.

    examples:
      python manage.py change 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --delay 2 --concurrency 1
      python manage.py change 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --max-pages 500 --exclude '/archive/'
      python manage.py change 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --without deadline --notify me@example.com
      python manage.py change 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --login-field user=ann --login-field password=env:PW

    Other options stay unchanged; a list, such as patterns or log-in fields, replaces the previous
    list. docs/queue.md describes the effect of each change on open pages.

    exit codes:
      0    it is changed, or already was
      1    the crawl was deleted, or a service is down
      2    invalid arguments, or there is no such crawl; nothing was changed
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        add_changeable(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl, values = crawl_of(options["id"]), changes(options)
        if not values:
            raise BadInput("id", "Name at least one option to change, such as --delay 2.")
        done = change(crawl.id, values, by=OPERATOR)
        return self.print_reply(adding.to_change(done.before, done.after))
