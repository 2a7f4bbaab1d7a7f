"""`manage.py links-to`: the pages of a crawl that link to a page, with their anchor texts."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.text.sanitize import one_line
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.management.pages import page_of
from crawler.reports.links import Inlink, inlinks


class Command(CrawlerCommand):
    """List the pages of a crawl that link to a page, with the anchor texts: where to fix a broken link.

    examples:
      python manage.py links-to 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/old-page
      python manage.py links-to 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/old-page --json

    exit codes:
      0    the links were printed
      1    the database is down
      2    there is no such crawl, or the page is not in it
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("url", metavar="URL", help="the target page")
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        found = inlinks(crawl, page_of(crawl, options["url"]).url)
        for link in found:
            self.print(json.dumps(link._asdict()) + "\n" if options["json"] else _line(link))
        if not found:
            self.say("No page of this crawl links to it.")
        return Exit.DONE


def _line(link: Inlink) -> str:
    words = f'  "{link.text}"' if link.text else ""
    rel = f"  [{link.rel}]" if link.rel else ""
    return f"{one_line(link.page + words + rel)}\n"
