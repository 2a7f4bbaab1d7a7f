"""`manage.py resume`: resumes a paused crawl."""

from __future__ import annotations

from uuid import UUID

from crawler.crawls import control
from crawler.management.base import ControlCommand
from crawler.reports.text import Verb

EXAMPLES = """\
examples:
  python manage.py resume 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    it is running, by this command or before it
  1    it cannot be resumed because it is over, or a service is down
  2    there is no such crawl
"""


class Command(ControlCommand):
    """Resume a paused crawl without waiting for it (bin/crawl --resume ID waits)."""

    help = __doc__
    examples = EXAMPLES
    verb = Verb.RESUME
    needs_worker = True

    def change(self, crawl: UUID) -> bool:
        return control.resume(crawl)
