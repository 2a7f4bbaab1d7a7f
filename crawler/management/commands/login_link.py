"""`manage.py login-link`: prints a one-time login link."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler import conf
from crawler.accounts import audit
from crawler.accounts.login_links import account_named, make_link
from crawler.core.errors import CrawlerError


class Command(BaseCommand):
    """Print a one-time login link for an account; it is valid for one hour. The first account is created if missing."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default="", metavar="NAME", help="user name; default: the first account")
        parser.add_argument("--base-url", default=None, help="of the web server; default: CRAWLER_BASE_URL, or bin/up")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with audit.by_command():
                account = account_named(options["user"]) if options["user"] else None
                link = make_link(options["base_url"] or conf.base_url(), account)
        except CrawlerError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(link)
