"""`manage.py report`: the reports on a crawl."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.core.text.controls import Surface, spoken
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.catalogue.entries import REPORTS, numbers_of, report_named
from crawler.reports.catalogue.report import Report


class Command(CrawlerCommand):
    """Show all reports on a crawl with their counts, or all rows of one report.

    examples:
      python manage.py report 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
      python manage.py report 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 broken-links
      python manage.py report 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 broken-links --json

    exit codes:
      0    the report was printed
      1    the database is down, or this crawl has no data for the report
      2    there is no such crawl or report
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("report", nargs="?", metavar="REPORT", help="name of the report; default: list all")
        parser.add_argument("--json", action="store_true", help="print JSON: one object, or one per row")

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        if options["report"]:
            return self._show(crawl, report_named(options["report"]), options["json"])
        return self._list(crawl, options["json"])

    def _list(self, crawl: Crawl, as_json: bool) -> int:
        """A report without data has no count: null."""
        numbers = numbers_of(crawl)
        if as_json:
            self.print_json({report.slug: numbers.get(report.slug) for report in REPORTS})
            return Exit.DONE
        rows = [(report.slug, _number(report, numbers.get(report.slug)), report.title) for report in REPORTS]
        self.print(text.aligned(rows))
        return Exit.DONE

    def _show(self, crawl: Crawl, report: Report, as_json: bool) -> int:
        lacking = report.lacking(crawl)
        if lacking:
            self.say(spoken(lacking, Surface.COMMAND))
            return Exit.NOT_DONE
        names, rows = [column.name for column in report.whole_columns], report.rows(crawl)
        self.print_rows(names, rows, as_json=as_json)
        if unknown := report.not_requested(crawl):
            self.say(spoken(unknown, Surface.COMMAND))
        return Exit.DONE


def _number(report: Report, number: int | None) -> str:
    return text.DASH if number is None else text.counted(number, report.noun)
