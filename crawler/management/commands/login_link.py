"""`manage.py login-link`: prints an address that logs an account in once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler import conf
from crawler.accounts import audit
from crawler.accounts.login_links import account_named, make_link
from crawler.core.errors import CrawlerError


class Command(BaseCommand):
    """Print a one-time login link, for one account or the first (made when there is none); it lasts for one hour."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default="", metavar="NAME", help="whom to let in; default: the first")
        parser.add_argument("--base-url", default=None, help="where the web page is; default: CRAWLER_BASE_URL")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with audit.by_command():
                account = account_named(options["user"]) if options["user"] else None
                link = make_link(options["base_url"] or conf.base_url(), account)
        except CrawlerError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(link)
