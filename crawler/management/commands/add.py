"""`manage.py add`: adds pages to a crawl."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from crawler import clock, conf
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import BadInput
from crawler.core.pages.placement import MAX_URLS, Added, Placement
from crawler.core.url_lists.entries import entries_of
from crawler.core.url_lists.reader import PIECE_BYTES, ColumnChoice
from crawler.core.url_lists.wanted import PageRequest, of_line
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of
from crawler.management.list_input import STDIN, opened
from crawler.management.placement import add_place, place_of
from crawler.manager.add import add
from crawler.reports import adding


class Command(CrawlerCommand):
    """Add pages to a crawl that is running, waits for pages, or is over.

    examples:
      python manage.py add 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/new
      python manage.py add 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 https://example.com/news --delay 10m --priority 9
      python manage.py add 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --list urls.txt --again

    A list may have the columns priority, ttl, not_before and others, as for bin/crawl --list.
    Pages still waiting get the new time and priority. Closed pages stay closed, unless --again
    requests them again. A finished crawl runs again.

    exit codes:
      0    every URL was added, or was already in the crawl
      1    some URLs were refused, or a service is down
      2    invalid arguments, or there is no such crawl; nothing was added
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("urls", nargs="*", metavar="URL", help="the pages to add")
        parser.add_argument("--list", metavar="FILE", help="add each URL in FILE: text, CSV or JSONL; - is stdin")
        parser.add_argument("--list-column", default="", metavar="C", help="the column of URLs, by name or number")
        parser.add_argument("--again", action="store_true", help="request closed pages again, too")
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
        add_place(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl, place = crawl_of(options["id"]), place_of(options)
        if bool(options["urls"]) == bool(options["list"]):
            raise BadInput("urls", "Give URLs, or a list with --list FILE.")
        total = Added()
        for pages in _parts(options, place):
            done = add(crawl.id, pages, place, by=OPERATOR, again=options["again"])
            total = total.plus(done)
        return self._tell(total, place, as_json=options["json"])

    def _tell(self, done: Added, place: Placement, *, as_json: bool) -> int:
        if as_json:
            self.print_json(msgspec.to_builtins(done))
        else:
            self.print(f"{adding.to_add(done).line}\n")
            for line in adding.reasons_lines(done):
                self.say(f"  {line}")
        if place.not_before is None:
            self.warn_without_workers()
        return Exit.NOT_DONE if done.refused else Exit.DONE


def _parts(options: dict[str, Any], place: Placement) -> Iterator[Sequence[str | PageRequest]]:
    """The pages, as many at a time as are added in one transaction. Those of a list are read as they are needed."""
    if not options["list"]:
        urls = options["urls"]
        yield from (urls[at : at + MAX_URLS] for at in range(0, len(urls), MAX_URLS))
        return
    with opened(options["list"]) as stream:
        name = "stdin" if options["list"] == STDIN else Path(options["list"]).name
        pieces = iter(lambda: stream.read(PIECE_BYTES), b"")
        items = entries_of(pieces, name, ColumnChoice(options["list_column"]), max_bytes=conf.max_list_bytes())
        while lines := list(islice(items, MAX_URLS)):
            now = clock.epoch_seconds()
            yield [of_line(line, place, now) for line in lines]
