"""`manage.py reconcile`: finds running crawls without activity and wakes them."""

from __future__ import annotations

from typing import Any

from crawler.crawls.reconcile import ScanResult, reconcile
from crawler.management.base import CrawlerCommand, Exit
from crawler.reports import text


class Command(CrawlerCommand):
    """Wake running crawls without activity, and deliver notices that are due.

    examples:
      python manage.py reconcile

    Every job, web page and waiting command does this anyway. You can run the command
    at any time, for example by cron.

    exit codes:
      0    done
      1    a service is down
    """

    def perform(self, options: dict[str, Any]) -> int:
        self.print(f"{_line(reconcile())}\n")
        return Exit.DONE


def _line(found: ScanResult | None) -> str:
    if found is None:
        return "Nothing was done, because another process did this less than a second ago."
    return (
        f"{text.counted(found.running, 'running crawl')}, {found.woken:,} woken; "
        f"{text.counted(found.pending, 'notice')} to deliver."
    )
