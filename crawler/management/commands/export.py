"""`manage.py export`: writes a crawl to a file or to stdout."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.exports.file import check_writable
from crawler.exports.formats import FORMATS
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import add_crawl, crawl_of

EXAMPLES = """\
examples:
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format csv --output pages.csv
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format jsonl | head
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format csv --externals --output others.csv
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format links.csv --output links.csv
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format sitemap.xml --output sitemap.xml

formats:
""" + "".join(f"  {key:<15}{made.about}\n" for key, made in FORMATS.items())
EXIT_CODES = """
exit codes:
  0    the file is written
  1    the file cannot be written, the crawl has too many pages for the format, or the database is down
  2    invalid arguments, or there is no such crawl
"""


class Command(CrawlerCommand):
    """Write the pages or links of a crawl to a file or to stdout. Open pages are included."""

    examples = EXAMPLES + EXIT_CODES

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)
        parser.add_argument("--format", choices=list(FORMATS), metavar="F", required=True, help="see below")
        parser.add_argument(
            "--output",
            default="-",
            metavar="FILE",
            help="target; the file appears when it is complete (default: stdout)",
        )

        parser.add_argument("--externals", action="store_true", help="links to other sites instead of the pages")

    def perform(self, options: dict[str, Any]) -> int:
        crawl, made, target = crawl_of(options["id"]), FORMATS[options["format"]], options["output"]
        if target != "-":
            check_writable(target)
        elif not made.is_text and self.stdout.isatty():
            raise BadInput("output", f"{made.name} is a binary format; give --output FILE.")
        pieces = made(crawl, externals=options["externals"])
        if not crawl.is_over:
            self.say(f"The crawl is {crawl.state}: the export holds its results so far.")
        self.save(target, pieces)
        return Exit.DONE
