"""`manage.py finish`: finishes a crawl that is kept open."""

from __future__ import annotations

from uuid import UUID

from crawler.crawls import control
from crawler.management.base import ControlCommand
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py finish 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is finished, or will be as soon as no page is open
  1    it was cancelled, or a service is down
  2    there is no such crawl
"""


class Command(ControlCommand):
    """Finish a crawl that is kept open (--stay-open): as soon as no page is open, with receipt and notice."""

    help = __doc__
    examples = EXAMPLES
    verb = Verb.FINISH
    needs_worker = True

    def change(self, crawl: UUID) -> bool:
        return control.finish(crawl)
