"""`manage.py delete`: deletes a crawl and its data."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from crawler.core.errors import BadInput
from crawler.core.text.sanitize import lines
from crawler.crawls.delete import delete
from crawler.management.base import CrawlerCommand, Exit, ExitWith
from crawler.management.crawls import add_crawl, crawl_of
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.text import Reply


class Command(CrawlerCommand):
    """Delete a crawl with its pages and notices permanently. A running crawl is cancelled first.

    examples:
      python manage.py delete 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
      python manage.py delete 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --yes      (in a script)

    exit codes:
      0    it is deleted, or already was
      1    you did not confirm, or a service is down
      2    the ID is invalid, or --yes is needed because stdin is not a terminal
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    def perform(self, options: dict[str, Any]) -> int:
        if _is_deleted(options["id"]):
            return self.print_reply(Reply("There is no such crawl; nothing was deleted.", is_so=True))
        crawl = crawl_of(options["id"])
        if not options["yes"]:
            self._confirm(crawl)
        return self.print_reply(text.to_delete(crawl, delete(crawl.id)))

    def _confirm(self, crawl: Crawl) -> None:
        """Ask for confirmation; end the command unless the user types yes."""
        if not sys.stdin.isatty():
            raise BadInput("yes", "Nothing was deleted: stdin is not a terminal, so confirm with --yes.")
        pages = text.counted(crawl.discovered, "page")
        question = f"Delete the crawl of {crawl.site} with its {pages}? This cannot be undone. Type yes: "
        self.stderr.write(lines(question), str, ending="")
        self.stderr.flush()
        if sys.stdin.readline().strip().lower() != "yes":
            raise ExitWith(Exit.NOT_DONE, "Nothing was deleted.")


def _is_deleted(typed: str) -> bool:
    """Whether this is the valid ID of a crawl that does not exist."""
    try:
        return not Crawl.objects.filter(pk=UUID(typed)).exists()
    except ValueError:
        return False
