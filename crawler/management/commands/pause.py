"""`manage.py pause`: pauses a crawl."""

from __future__ import annotations

from uuid import UUID

from crawler.crawls import control
from crawler.management.base import ControlCommand
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py pause 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is paused, by this command or before it
  1    it cannot be paused because it is over, or a service is down
  2    there is no such crawl
"""


class Command(ControlCommand):
    """Pause a crawl: results of running jobs are stored, no new pages are requested."""

    help = __doc__
    examples = EXAMPLES
    verb = Verb.PAUSE

    def change(self, crawl: UUID) -> bool:
        return control.pause(crawl)
