"""`manage.py autoscale`: starts workers while they are useful, and stops them again."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

PROGRAM = "crawler.launch.autoscale"


class Command(BaseCommand):
    """Keep as many workers running on this machine as `manage.py scale` says are useful, until stopped. One that is no
    longer needed finishes the pages it has begun; one that is killed is replaced."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--min", type=int, default=0, help="workers that are always there (default: 0)")
        parser.add_argument("--max", type=int, default=None, help="workers at most (default: the number of cores)")

    def handle(self, *args: Any, **options: Any) -> None:
        least, most = options["min"], options["max"] or os.cpu_count() or 1
        if not 0 <= least <= most:
            raise CommandError(f"--min must be from 0 to --max ({most}), not {least}.")
        os.execv(sys.executable, [sys.executable, "-m", PROGRAM, f"{least}-{most}"])  # noqa: S606 (ourselves)
