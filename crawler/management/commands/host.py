"""`manage.py host`: the state of a host, and the crawls that wait for it; `--forget` ends the wait."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import host_of, normalise
from crawler.management.base import CrawlerCommand, Exit
from crawler.manager.host_waits import end_host_waits
from crawler.reports import host, text


class Command(CrawlerCommand):
    """Show the state of a host: waiting crawls, crawls using its connections, and crawls with pages on it.

    examples:
      python manage.py host example.com
      python manage.py host example.com:8080 --json
      python manage.py host example.com --forget

    --forget deletes the Retry-After, throttle and failed robots.txt fetch of the host, so that crawls can request
    it at once. Its Crawl-delay and the delays of crawls stay.

    exit codes:
      0    printed, or deleted, or there was nothing to delete
      1    a service is down
      2    invalid host
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("host", metavar="HOST", help="host, host:port for a non-default port, or a URL")
        parser.add_argument("--forget", action="store_true", help="end the wait")
        parser.add_argument("--json", action="store_true", help="print a JSON object; null if the host is unknown")

    def perform(self, options: dict[str, Any]) -> int:
        name = _host_of(options["host"])
        if options["forget"]:
            done = end_host_waits(name)
            return self.print_reply(text.to_forget(name, had_to_wait=done.had_to_wait, crawls=done.crawls))
        known = host.known_of(name)
        if options["json"]:
            self.print_json(known)
        elif known is None:
            self.print(
                f"Nothing is known about {name}: no crawl has pages on it or requested it in the last 24 hours.\n"
            )
        else:
            self.print(host.text(known))
        return Exit.DONE


def _host_of(typed: str) -> str:
    """The normalised host."""
    url = normalise(typed if "://" in typed else f"http://{typed}/")
    if url is None:
        raise BadInput("host", f"{typed!r} is not a host; write example.com, or example.com:8080.")
    return host_of(url)
