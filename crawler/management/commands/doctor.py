"""`manage.py doctor`: what is installed, reachable, writable, too old, and what to do."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

import msgspec

from crawler.management.base import CrawlerCommand, Exit
from crawler.management.doctor import Level, findings


class Command(CrawlerCommand):
    """Check packages, data folder, database, Redis, workers and clocks, and suggest fixes.

    examples:
      python manage.py doctor
      python manage.py doctor --json

    exit codes:
      0    crawls can run
      1    a problem prevents crawls
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print a JSON object for each finding, one per line")

    def perform(self, options: dict[str, Any]) -> int:
        code = Exit.DONE
        for finding in findings():
            if finding.level is Level.ERROR:
                code = Exit.NOT_DONE
            if options["json"]:
                self.print(json.dumps(msgspec.to_builtins(finding)) + "\n")
            else:
                hint = f"\n{'':22}{finding.to_do}" if finding.to_do else ""
                self.print(f"{finding.level:<8}{finding.about:<14}{finding.text}{hint}\n")
        return code
