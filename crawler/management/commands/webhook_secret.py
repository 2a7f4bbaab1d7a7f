"""`manage.py webhook-secret`: makes or replaces the secret that signs the webhooks at one address."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User

from crawler.accounts.login_links import account_named
from crawler.core.errors import CrawlerError
from crawler.management.base import CrawlerCommand, Exit, ExitWith
from crawler.notices.webhook_secrets import make_secret


class Command(CrawlerCommand):
    """Create the secret that signs the webhooks at an address, and print it once. The address's previous secret also
    signs for a day.

    examples:
      python manage.py webhook-secret https://example.com/hook
      python manage.py webhook-secret https://example.com/hook --user ann

    exit codes:
      0    the secret is on stdout
      1    there is no such active account, or a service is down
      2    invalid address; nothing was changed
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", metavar="URL", help="the webhook, as in --notify-webhook")
        parser.add_argument("--user", default="", metavar="NAME", help="whose crawls; default: those without an owner")

    def perform(self, options: dict[str, Any]) -> int:
        try:
            owner: User | None = account_named(options["user"]) if options["user"] else None
        except CrawlerError as error:
            raise ExitWith(Exit.NOT_DONE, str(error)) from None
        made = make_secret(owner.pk if owner is not None else None, options["address"])
        if made.previous_until is not None:
            self.say(f"The previous secret also signs until {made.previous_until:%Y-%m-%d %H:%M} UTC.")
        self.print(f"{made.secret}\n")
        return Exit.DONE
