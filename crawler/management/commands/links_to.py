"""`manage.py links-to`: the pages of a crawl that link to a page, with their anchor texts."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.text.sanitize import one_line
from crawler.core.urls.normalise import parse_user_url
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.models import Page
from crawler.reports.links import Inlink, inlinks

EXAMPLES = """\
examples:
  python manage.py links-to 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/old-page
  python manage.py links-to 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/old-page --json

exit codes:
  0    the links were printed
  1    the database is down
  2    there is no such crawl, or the page is not in it
"""


class Command(CrawlerCommand):
    """List the pages of a crawl that link to a page, with the anchor texts: where to fix a broken link."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("url", metavar="URL", help="the target page")
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def perform(self, options: dict[str, Any]) -> int:
        crawl, url = crawl_of(options["id"]), parse_user_url(options["url"])
        if not Page.objects.filter(crawl=crawl, url=url).exists():
            raise BadInput("url", f"The crawl has no page {url}; `manage.py export` lists its pages.")
        found = inlinks(crawl, url)
        for link in found:
            self.print(json.dumps(link._asdict()) + "\n" if options["json"] else _line(link))
        if not found:
            self.say("No page of this crawl links to it.")
        return Exit.DONE


def _line(link: Inlink) -> str:
    words = f'  "{link.text}"' if link.text else ""
    rel = f"  [{link.rel}]" if link.rel else ""
    return f"{one_line(link.page + words + rel)}\n"
