"""`manage.py autoscale`: starts workers while they are useful, and stops them again."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.management.base import CrawlerCommand
from crawler.management.numbers import whole

PROGRAM = "crawler.launch.autoscale"


class Command(CrawlerCommand):
    """Start and stop workers on this machine, as many as `manage.py scale` shows. A worker that is no longer needed
    finishes its pages first; a killed worker is replaced.

    examples:
      python manage.py autoscale
      python manage.py autoscale --min 1 --max 8

    exit codes:
      2    invalid range
      130  interrupted by Ctrl-C (143 by SIGTERM)
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--min", type=whole, default=0, metavar="N", help="minimum number of workers (default: 0)")
        parser.add_argument(
            "--max", type=whole, metavar="N", help="maximum number of workers (default: the number of cores)"
        )

    def perform(self, options: dict[str, Any]) -> int:
        least, most = options["min"], options["max"] or os.cpu_count() or 1
        if not 0 <= least <= most:
            raise BadInput("min", f"--min must be from 0 to --max ({most}), not {least}.")
        os.execv(sys.executable, [sys.executable, "-m", PROGRAM, f"{least}-{most}"])  # noqa: S606 (ourselves)
