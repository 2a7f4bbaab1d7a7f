"""`manage.py login-link`: prints an address that logs the first account in once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler import conf
from crawler.accounts import make_link
from crawler.core.errors import CrawlerError


class Command(BaseCommand):
    """Print a one-time login link for the first account (made when there is none); it can be used for one hour."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--base-url", default=None, help="where the web page is; default: CRAWLER_BASE_URL")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            link = make_link(options["base_url"] or conf.base_url())
        except CrawlerError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(link)
