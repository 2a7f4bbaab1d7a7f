"""`manage.py login-link`: prints a one-time login link."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler import conf
from crawler.accounts.login_links import account_named, make_link
from crawler.core.errors import CrawlerError
from crawler.management.base import CrawlerCommand, Exit, ExitWith


class Command(CrawlerCommand):
    """Print a one-time login link for an account. It is valid for one hour. The first account is created if missing.

    examples:
      python manage.py login-link
      python manage.py login-link ann
      python manage.py login-link --base-url https://crawler.example.com

    exit codes:
      0    the link is on stdout
      1    there is no such active account, or a service is down
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default="", metavar="NAME", help="user name; default: the first account")
        parser.add_argument("--base-url", metavar="URL", help="of the web server; default: CRAWLER_BASE_URL, or bin/up")

    def perform(self, options: dict[str, Any]) -> int:
        try:
            account = account_named(options["user"]) if options["user"] else None
            link = make_link(options["base_url"] or conf.base_url(), account)
        except CrawlerError as error:
            raise ExitWith(Exit.NOT_DONE, str(error)) from None
        self.print(f"{link}\n")
        return Exit.DONE
