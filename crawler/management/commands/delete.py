"""`manage.py delete`: deletes a crawl and all that is known about its pages."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from crawler.core.errors import BadInput
from crawler.core.text.sanitize import lines
from crawler.crawls.delete import delete
from crawler.management.base import Door, Ended, Exit, add_crawl, crawl_of
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.text import Reply

EXAMPLES = """\
examples:
  python manage.py delete 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
  python manage.py delete 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --yes      (in a script)

exit codes:
  0    it is gone, by this command or before it
  1    you did not say yes, or a service is down
  2    that is no crawl's ID, or nobody is there to be asked and --yes is missing
"""


class Command(Door):
    """Delete a crawl with its pages and notices, for good. One that is not over is cancelled first."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def perform(self, options: dict[str, Any]) -> int:
        if _is_gone(options["id"]):
            return self.tell(Reply("There is no such crawl; nothing was left to delete.", is_so=True))
        crawl = crawl_of(options["id"])
        if not options["yes"]:
            self._ask(crawl)
        return self.tell(text.to_delete(crawl, delete(crawl.id)))

    def _ask(self, crawl: Crawl) -> None:
        """Ends the command unless the person says yes."""
        if not sys.stdin.isatty():
            raise BadInput("yes", "Nobody is there to be asked, so nothing was deleted; --yes deletes without asking.")
        pages = text.counted(crawl.discovered, "page")
        question = f"Delete the crawl of {crawl.site} with its {pages}? This cannot be undone. Type yes: "
        self.stderr.write(lines(question), str, ending="")
        self.stderr.flush()
        if sys.stdin.readline().strip().lower() != "yes":
            raise Ended(Exit.NOT_DONE, "Nothing was deleted.")


def _is_gone(typed: str) -> bool:
    """Whether this can be the ID of a crawl that was deleted."""
    try:
        return not Crawl.objects.filter(pk=UUID(typed)).exists()
    except ValueError:
        return False
