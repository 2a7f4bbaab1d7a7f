"""`manage.py webhook-secret`: makes or replaces the secret that signs the webhooks at one address."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from crawler.accounts import audit
from crawler.accounts.login_links import account_named
from crawler.core.errors import CrawlerError
from crawler.notices.webhook_secrets import make_secret


class Command(BaseCommand):
    """Make the secret that signs the webhooks at an address, and print it once. A secret that the address has is
    replaced: for a day both sign."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", metavar="URL", help="the webhook, as in --notify-webhook")
        parser.add_argument("--user", default="", metavar="NAME", help="whose crawls; default: those without an owner")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with audit.by_command():
                owner: User | None = account_named(options["user"]) if options["user"] else None
                made = make_secret(owner.pk if owner is not None else None, options["address"])
        except CrawlerError as error:
            raise CommandError(str(error)) from None
        if made.previous_until is not None:
            self.stderr.write(f"The secret before signs too until {made.previous_until:%Y-%m-%d %H:%M} UTC.")
        self.stdout.write(made.secret)
