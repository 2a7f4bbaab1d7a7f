"""`manage.py again`: requests pages of a crawl again that have their outcome."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.pages.page_query import PagesQuery, Show, read
from crawler.management.base import CrawlerCommand
from crawler.management.crawls import add_crawl, crawl_of
from crawler.management.pages import page_of
from crawler.management.placement import add_place, place_of
from crawler.manager.add import ask_again
from crawler.models import Crawl
from crawler.reports import adding
from crawler.reports.page_table import chosen

FILTERS = {
    "text": ("q", "TEXT", "pages with TEXT in their URL or title"),
    "show": ("show", "WHAT", f"one of: {', '.join(Show)}"),
    "outcome": ("outcome", "OUTCOME", "pages with this outcome or group of outcomes: limit, failed, ..."),
    "status": ("status", "STATUS", "pages with this HTTP status: 404, or 4xx"),
    "depth": ("depth", "DEPTH", "links from a start URL: 3, or 3+"),
    "type": ("type", "TYPE", "pages whose content type begins with TYPE"),
}
"""Argument -> its name in a query of the table, metavar, help."""


class Command(CrawlerCommand):
    """Request pages of a crawl again: the named pages, or all pages that match the filters.

    examples:
      python manage.py again 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/a 4711
      python manage.py again 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --status 4xx --delay 1h
      python manage.py again 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --outcome limit

    The table of pages has the same filters. A finished crawl runs again. Pages in traps are skipped:
    `manage.py release-trap` opens them. `manage.py retry-failed` retries only dead letters.

    exit codes:
      0    they are requested again
      1    no closed page was selected, or a service is down
      2    invalid arguments, or there is no such crawl or page
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("pages", nargs="*", metavar="PAGE", help="a page, by its URL or its number in an export")
        group = parser.add_argument_group("filters; a page must match all of them")
        for name, (_, metavar, help) in FILTERS.items():
            group.add_argument(f"--{name}", default="", metavar=metavar, help=help)
        group.add_argument("--all", action="store_true", help="all pages counted in the receipt")
        add_place(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl, place = crawl_of(options["id"]), place_of(options)
        done = ask_again(crawl.id, _selected(crawl, options), place)
        code = self.print_reply(adding.to_ask_again(done))
        if place.not_before is None:
            self.warn_without_workers()
        return code


def _selected(crawl: Crawl, options: dict[str, Any]) -> Iterable[int]:
    query = read({name: [options[argument]] for argument, (name, _, _) in FILTERS.items()})
    ways = [bool(options["pages"]), query != PagesQuery(), options["all"]]
    if ways.count(True) != 1:
        raise BadInput("pages", "Name pages, give filters, or use --all for all pages of the crawl.")
    if options["pages"]:
        return [page_of(crawl, typed).pk for typed in options["pages"]]
    return chosen(crawl, query).values_list("id", flat=True)
