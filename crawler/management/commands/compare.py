"""`manage.py compare`: new, removed and changed pages of two crawls."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.exports.csv import json_lines
from crawler.management.base import Door, Exit, crawl_of
from crawler.management.display import text_of
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

EXAMPLES = """\
examples:
  python manage.py compare EARLIER LATER
  python manage.py compare EARLIER LATER --only content
  python manage.py compare EARLIER LATER --only gone --json

EARLIER and LATER are ids of crawls; `manage.py status` lists them.

exit codes:
  0    the differences were printed
  1    the database is down
  2    there is no such crawl or change
"""


class Command(Door):
    """Show how many pages are new, gone or changed from one crawl to another, or all pages that differ in one way."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("earlier", metavar="EARLIER", help="the crawl from before")
        parser.add_argument("later", metavar="LATER", help="the crawl from after")
        parser.add_argument("--only", metavar="CHANGE", help=f"list the pages: {', '.join(CHANGES_BY_SLUG)}")
        parser.add_argument("--json", action="store_true", help="print JSON: one object, or one a page")

    def perform(self, options: dict[str, Any]) -> int:
        before, now = crawl_of(options["earlier"]), crawl_of(options["later"])
        if before == now:
            raise BadInput("later", "These are one and the same crawl; give two.")
        if options["only"]:
            return self._show(now, before, change_named(options["only"]), options["json"])
        return self._count(now, before, options["json"])

    def _count(self, now: Crawl, before: Crawl, as_json: bool) -> int:
        numbers = changes_between(now, before)
        if as_json:
            self.print(json.dumps(numbers) + "\n")
            return Exit.DONE
        self.print(text.aligned([(change.title, text.counted(numbers[change.slug], "page")) for change in CHANGES]))
        unlike = other_options(now, before)
        if unlike:
            self.say(f"The two crawls had other options ({', '.join(unlike)}): some of it may come from that.")
        return Exit.DONE

    def _show(self, now: Crawl, before: Crawl, change: Change, as_json: bool) -> int:
        names = [column.name for column in change.columns]
        found = rows(now, before, change)
        for piece in json_lines(names, found) if as_json else text_of(names, found):
            self.print(piece)
        return Exit.DONE
