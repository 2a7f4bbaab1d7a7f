"""`manage.py cancel`: cancels a crawl."""

from __future__ import annotations

from uuid import UUID

from crawler.crawls import control
from crawler.management.base import ControlCommand
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py cancel 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is cancelled, by this command or before it
  1    it is finished and cannot be cancelled, or a service is down
  2    there is no such crawl
"""


class Command(ControlCommand):
    """Cancel a crawl: open pages close as cancelled; fetched pages are kept."""

    help = __doc__
    examples = EXAMPLES
    verb = Verb.CANCEL

    def change(self, crawl: UUID) -> bool:
        return control.cancel(crawl)
