"""`manage.py retry-failed`: retries the dead letters of a crawl, or of all crawls."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler import clock
from crawler.core.errors import BadInput
from crawler.crawls.retry import retry_chosen, retry_failed
from crawler.management.base import CrawlerCommand
from crawler.management.crawls import crawl_of
from crawler.management.letters import add_filters, chosen_of, letters_of
from crawler.management.pages import page_of
from crawler.models import Crawl, Page
from crawler.reports import text
from crawler.reports.dead_letters import LetterFilter
from crawler.reports.text import Reply


class Command(CrawlerCommand):
    """Retry dead letters: of one crawl, by page id, by filter, or of all crawls.

    examples:
      python manage.py retry-failed 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5
      python manage.py retry-failed 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --page https://example.com/a
      python manage.py retry-failed --outcome timeout --since 2h
      python manage.py retry-failed --all

    `manage.py dead-letters` lists them, with the same filters. A finished crawl runs again.

    exit codes:
      0    they are retried, or there were none
      1    a named page is not a dead letter, or a service is down
      2    invalid arguments, or there is no such crawl, or no such page in it
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="all dead letters of all crawls")
        parser.add_argument(
            "--page",
            action="extend",
            nargs="+",
            metavar="URL",
            help="only this page of the crawl, by its URL or its number in the list (repeatable)",
        )
        add_filters(parser)

    def perform(self, options: dict[str, Any]) -> int:
        chosen, pages = chosen_of(options), options["page"]
        is_whole_crawl = chosen == LetterFilter(crawl=chosen.crawl)
        if options["all"] == chosen.is_narrowed:
            raise BadInput("id", "Name a crawl, give filters, or use --all for the dead letters of all crawls.")
        if pages is not None and (chosen.crawl is None or not is_whole_crawl):
            raise BadInput("page", "Give --page together with the ID of the crawl, without filters.")
        if pages is not None:
            crawl = crawl_of(options["id"])
            code = self._retry(crawl, [page_of(crawl, typed, "dead-letters") for typed in pages])
        elif chosen.crawl is not None and is_whole_crawl:
            code = self.print_reply(text.to_retry(retry_failed(chosen.crawl)))
        else:
            code = self._retry_chosen(chosen)
        self.warn_without_workers()
        return code

    def _retry_chosen(self, chosen: LetterFilter) -> int:
        """All of them, in steps; those that fail again meanwhile are left."""
        began, pages, crawls = clock.epoch_seconds(), 0, 0
        while (step := retry_chosen(letters_of(chosen), began)).pages:
            pages, crawls = pages + step.pages, crawls + step.crawls
            if not step.has_more:
                break
        return self.print_reply(text.to_retry_chosen(pages, crawls, has_more=False))

    def _retry(self, crawl: Crawl, pages: list[Page]) -> int:
        """Open pages are retried already; pages that closed with another outcome are not changed."""
        others = [page for page in pages if page.status == Page.CLOSED and not page.given_up]
        code = self.print_reply(text.to_retry(retry_failed(crawl.id, [page.id for page in pages])))
        if not others:
            return code
        listed = "; ".join(f"{page.url} ({page.http_status or text.outcome(page.outcome)})" for page in others)
        return self.print_reply(Reply(f"Not retried, because it is not a dead letter: {listed}.", is_so=False))
