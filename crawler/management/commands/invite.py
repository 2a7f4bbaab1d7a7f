"""`manage.py invite`: creates an account and prints a link with which the user sets the password."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crawler import conf
from crawler.accounts.login_links import invite, link_for
from crawler.management.base import CrawlerCommand, Exit


class Command(CrawlerCommand):
    """Invite a user: create an account named by the e-mail address, and print its link.

    examples:
      python manage.py invite ann@example.com
      python manage.py invite ann@example.com --group editors --group shop
      python manage.py invite ann@example.com --staff

    The link can be used once, within three days. The same command prints a new one.

    exit codes:
      0    the link is on stdout
      1    a service is down
      2    invalid address or group, or the account is in use; nothing was created
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", metavar="EMAIL", help="the address; it is also the user name")
        parser.add_argument(
            "--group", action="append", default=[], metavar="NAME", help="put the account in this group; repeatable"
        )
        parser.add_argument("--staff", action="store_true", help="may see all crawls and the admin")
        parser.add_argument(
            "--base-url",
            default=None,
            metavar="URL",
            help="address of the web server; default: as for login-link",
        )

    def perform(self, options: dict[str, Any]) -> int:
        account = invite(options["email"], options["group"], staff=options["staff"])
        self.print(link_for(account, options["base_url"] or conf.base_url()) + "\n")
        return Exit.DONE
