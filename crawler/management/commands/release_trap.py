"""`manage.py release-trap`: lists the traps of a crawl, or releases them so that their pages are crawled."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from crawler.core.errors import BadInput
from crawler.crawls.retry import release
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.models import Crawl
from crawler.reports import text, traps
from crawler.reports.traps import TrapReport


class Command(CrawlerCommand):
    """List the crawler traps of a crawl, or release them, so that their pages are crawled.

    examples:
      python manage.py release-trap 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
      python manage.py release-trap 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 'example.com/…/img/…/img/…'
      python manage.py release-trap 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --all

    Without a pattern it lists the traps. Give a pattern as listed, or its number.
    A finished crawl runs again.

    exit codes:
      0    listed, or released now or earlier
      1    a service is down
      2    there is no such crawl, or no such trap in it
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument(
            "pattern", nargs="*", metavar="PATTERN", help="release the trap with this pattern or number"
        )
        parser.add_argument("--all", action="store_true", help="release all of them")
        parser.add_argument("--json", action="store_true", help="list them as one JSON object per line")

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        caught = traps.traps_of(crawl)
        if options["all"] or options["pattern"]:
            chosen = None if options["all"] else [_chosen(crawl, caught, typed) for typed in options["pattern"]]
            done = release(crawl.id, chosen)
            code = self.print_reply(traps.to_release(done.traps, done.pages, done.left_out))
            self.warn_without_workers()
            return code
        self._list(caught, as_json=options["json"])
        return Exit.DONE

    def _list(self, caught: Sequence[TrapReport], *, as_json: bool) -> None:
        if as_json:
            for each in caught:
                self.print_json(_plain(each), ensure_ascii=False)
        elif caught:
            self.print(text.aligned([("TRAP", "WHY", "EXCLUDED", "PATTERN"), *map(_line, caught)]))
        else:
            self.say("There are no traps.")


def _chosen(crawl: Crawl, caught: Sequence[TrapReport], typed: str) -> int:
    """The number of the trap with this pattern or number."""
    for each in caught:
        if typed in (each.trap.pattern, str(each.trap.pk)):
            return int(each.trap.pk)
    raise BadInput("pattern", f"This crawl has no trap {typed!r}; `manage.py release-trap {crawl.id}` lists them.")


def _line(caught: TrapReport) -> tuple[str, str, str, str]:
    return str(caught.trap.pk), caught.reason, f"{caught.number} {caught.beyond}".rstrip(), caught.trap.pattern


def _plain(caught: TrapReport) -> dict[str, Any]:
    trap = caught.trap
    return {
        "trap": trap.pk,
        "reason": trap.reason,
        "evidence": caught.evidence,
        "pattern": trap.pattern,
        "quarantined": trap.quarantined,
        "left_out": trap.left_out,
        "released": trap.released,
        "examples": [page.url for page in caught.examples],
    }
