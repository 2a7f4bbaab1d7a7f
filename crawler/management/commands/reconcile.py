"""`manage.py reconcile`: finds running crawls with no sign of life, wakes them, and says so."""

from __future__ import annotations

from typing import Any

from crawler.management.base import Door, Exit
from crawler.manager.reconcile import ScanResult, reconcile
from crawler.reports import text

EXAMPLES = """\
Nobody has to call it: every job, page and waiting command does. It is here for cron and for
the curious, and may be called at any time.
"""


class Command(Door):
    """Wake running crawls that show no sign of life, and see to notices that are due."""

    help = __doc__
    examples = EXAMPLES

    def perform(self, options: dict[str, Any]) -> int:
        self.print(f"{_told(reconcile())}\n")
        return Exit.DONE


def _told(found: ScanResult | None) -> str:
    if found is None:
        return "Somebody looked less than a second ago; nothing was left to do."
    return (
        f"{text.counted(found.running, 'running crawl')}, {found.woken:,} woken; "
        f"{text.counted(found.pending, 'notice')} to deliver."
    )
