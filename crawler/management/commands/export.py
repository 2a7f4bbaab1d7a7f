"""`manage.py export`: writes the pages of a crawl to a file or to stdout."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.exports.file import check_writable
from crawler.exports.formats import FORMATS
from crawler.management.door import Door, Exit, crawl_of

EXAMPLES = """\
examples:
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format csv --output pages.csv
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format jsonl | head
  python manage.py export 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5 --format csv --externals --output links.csv
"""


class Command(Door):
    """Write the pages of a crawl, open ones included, as JSON lines or CSV."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="the crawl")
        parser.add_argument("--format", choices=list(FORMATS), required=True, help="what to write")
        parser.add_argument(
            "--output",
            default="-",
            metavar="FILE",
            help="where to; the file appears when it is complete (default: stdout)",
        )

        parser.add_argument("--externals", action="store_true", help="links to other sites, in place of the pages")

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        if options["output"] != "-":
            check_writable(options["output"])
        self.save(options["output"], FORMATS[options["format"]](crawl, externals=options["externals"]))
        return Exit.DONE
