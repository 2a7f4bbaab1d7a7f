"""`manage.py compare`: the differences between two crawls of a site."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import crawl_of
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.comparison import (
    CHANGES,
    CHANGES_BY_SLUG,
    Change,
    change_named,
    changes_between,
    other_options,
    rows,
)


class Command(CrawlerCommand):
    """Compare two crawls of a site: how many pages are new, gone or changed, or the pages of one kind of change.

    examples:
      python manage.py compare EARLIER LATER
      python manage.py compare EARLIER LATER --only content
      python manage.py compare EARLIER LATER --only gone --json

    EARLIER and LATER are ids of crawls; `manage.py status` lists them.

    exit codes:
      0    the comparison was printed
      1    the database is down
      2    there is no such crawl or change
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("earlier", metavar="EARLIER", help="the earlier crawl: its ID, or its first characters")
        parser.add_argument("later", metavar="LATER", help="the later crawl, or @last")
        parser.add_argument("--only", metavar="CHANGE", help=f"list the pages: {', '.join(CHANGES_BY_SLUG)}")
        parser.add_argument("--json", action="store_true", help="print JSON: one object, or one per page")

    def perform(self, options: dict[str, Any]) -> int:
        before, now = crawl_of(options["earlier"]), crawl_of(options["later"])
        if before == now:
            raise BadInput("later", "Both IDs are the same crawl; give two different ones.")
        if options["only"]:
            return self._show(now, before, change_named(options["only"]), options["json"])
        return self._count(now, before, options["json"])

    def _count(self, now: Crawl, before: Crawl, as_json: bool) -> int:
        numbers = changes_between(now, before)
        if as_json:
            self.print_json(numbers)
            return Exit.DONE
        self.print(text.aligned([(change.title, text.counted(numbers[change.slug], "page")) for change in CHANGES]))
        unlike = other_options(now, before)
        if unlike:
            self.say(f"The two crawls had different options, which may explain differences: {', '.join(unlike)}.")
        return Exit.DONE

    def _show(self, now: Crawl, before: Crawl, change: Change, as_json: bool) -> int:
        names = [column.name for column in change.columns]
        found = rows(now, before, change)
        self.print_rows(names, found, as_json=as_json)
        return Exit.DONE
