"""`manage.py host`: the state of a host, and crawls that wait for it; `--forget` ends the wait."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import host_of, normalise
from crawler.management.base import Door, Exit
from crawler.manager.host_waits import end_host_waits
from crawler.reports import host, text

EXAMPLES = """\
examples:
  python manage.py host example.com
  python manage.py host example.com:8080 --json
  python manage.py host example.com --forget

--forget lets all crawls request the host at once: it discards the Retry-After, the delay of the throttle, and a
robots.txt that could not be fetched. Its Crawl-delay and the delays of crawls stay.

exit codes:
  0    the state was printed, or the wait was ended, or there was none
  1    a service is down
  2    this is not a host
"""


class Command(Door):
    """Show the state of a host: how long it waits, which crawls use its connections, and which have pages of it."""

    help = __doc__
    examples = EXAMPLES

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("host", metavar="HOST", help="host, host:port where that is not the usual one, or a URL")
        parser.add_argument("--forget", action="store_true", help="end what it waits for")
        parser.add_argument("--json", action="store_true", help="print a JSON object, null if nothing is known")

    def perform(self, options: dict[str, Any]) -> int:
        name = _host_of(options["host"])
        if options["forget"]:
            done = end_host_waits(name)
            return self.tell(text.to_forget(name, had_to_wait=done.had_to_wait, crawls=done.crawls))
        known = host.known_of(name)
        if options["json"]:
            self.print(json.dumps(known) + "\n")
        elif known is None:
            self.print(f"Nothing is known of {name}: no crawl has pages of it, and none asked it within a day.\n")
        else:
            self.print(host.text(known))
        return Exit.DONE


def _host_of(typed: str) -> str:
    """The host as crawls store it."""
    url = normalise(typed if "://" in typed else f"http://{typed}/")
    if url is None:
        raise BadInput("host", f"{typed!r} is no host; type example.com, or example.com:8080.")
    return host_of(url)
