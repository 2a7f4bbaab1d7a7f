"""`manage.py retry-failed`: retries the dead letters of a crawl."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.crawls.retry import retry_failed
from crawler.management.base import CrawlerCommand, add_crawl, crawl_of
from crawler.management.pages import page_of
from crawler.models import Crawl, Page
from crawler.reports import text
from crawler.reports.text import Reply

EXAMPLES = """\
examples:
  python manage.py retry-failed 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
  python manage.py retry-failed 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --page https://example.com/a

`manage.py dead-letters ID` lists them. A finished crawl runs again.

exit codes:
  0    they are retried, or there were none
  1    a named page is not a dead letter, or a service is down
  2    there is no such crawl, or no such page in it
"""


class Command(CrawlerCommand):
    """Retry the dead letters of a crawl: all of them, or the named ones."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument(
            "--page",
            action="extend",
            nargs="+",
            metavar="URL",
            help="only this page, by its URL or its number in the list (repeatable)",
        )

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        if options["page"] is None:
            code = self.print_reply(text.to_retry(retry_failed(crawl.id)))
        else:
            code = self._retry(crawl, [page_of(crawl, typed, "dead-letters") for typed in options["page"]])
        self.warn_without_workers()
        return code

    def _retry(self, crawl: Crawl, pages: list[Page]) -> int:
        """Open pages are retried already; pages that closed with another outcome are not changed."""
        others = [page for page in pages if page.status == Page.CLOSED and not page.given_up]
        code = self.print_reply(text.to_retry(retry_failed(crawl.id, [page.id for page in pages])))
        if not others:
            return code
        listed = "; ".join(f"{page.url} ({page.http_status or text.outcome(page.outcome)})" for page in others)
        return self.print_reply(Reply(f"Not retried, because it is not a dead letter: {listed}.", is_so=False))
