"""`manage.py audit`: prints the audit log."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet

from crawler import clock
from crawler.core.errors import BadInput
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawls import MAX_CANDIDATES, NEWEST, crawl_of
from crawler.models import AuditEntry

MAX_DAYS = 36_500
ABOUT = "only actions on this: a crawl's ID or its first characters, a site (all its crawls), @last, an account, ..."


class Command(CrawlerCommand):
    """Show the audit log: starts, deletions, logins, changes of accounts, permissions and channels.

    examples:
      python manage.py audit
      python manage.py audit --days 30 --act login
      python manage.py audit --who ann --json
      python manage.py audit --about 5a0a5a2e
      python manage.py audit --about @last

    An ACT is a prefix such as "crawl", or a name such as "crawl.deleted". The newest entries come last.

    exit codes:
      0    the entries are on stdout
      1    a service is down
      2    invalid arguments
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=float, default=7.0, metavar="N", help="how far back (default: 7)")
        parser.add_argument("--act", default="", metavar="ACT", help="only actions that begin with this, such as login")
        parser.add_argument("--who", default="", metavar="NAME", help="only actions of this account or system user")
        parser.add_argument("--about", default="", metavar="ID", help=ABOUT)
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def perform(self, options: dict[str, Any]) -> int:
        if not 0 < options["days"] <= MAX_DAYS:
            raise BadInput("days", f"--days must be more than 0 and at most {MAX_DAYS:,}.")
        for entry in _found(options).iterator(chunk_size=1000):
            self.print((json.dumps(plain(entry)) if options["json"] else line(entry)) + "\n")
        return Exit.DONE


def _found(options: dict[str, Any]) -> QuerySet[AuditEntry]:
    entries = AuditEntry.objects.filter(at__gte=clock.now() - timedelta(days=options["days"])).order_by("pk")
    if options["act"]:
        entries = entries.filter(Q(act=options["act"]) | Q(act__startswith=options["act"] + "."))
    if options["who"]:
        entries = entries.filter(actor=options["who"])
    if options["about"]:
        entries = entries.filter(_about(options["about"].strip()))
    return entries


def _about(typed: str) -> Q:
    """What a user named: exactly as the log has it, or else a crawl, also a deleted one. Raises BadInput if there is no
    newest crawl, or if several crawls begin like this."""
    exact = Q(key=typed) | Q(name=typed)
    if typed.lower() == NEWEST:
        return Q(key=str(crawl_of(typed).id))
    if AuditEntry.objects.filter(exact).exists():
        return exact
    logged = AuditEntry.objects.filter(kind="crawl", key__startswith=typed.lower())
    keys = list(logged.order_by("key").values_list("key", flat=True).distinct()[: MAX_CANDIDATES + 1])
    if len(keys) > 1:
        named = [f"\n  {key}" for key in keys[:MAX_CANDIDATES]]
        more = "\n  ..." if len(keys) > MAX_CANDIDATES else ""
        raise BadInput(
            "about", f"Several crawls begin with {typed}; type more characters of the ID:{''.join(named)}{more}"
        )
    if keys:
        return Q(key=keys[0])
    with suppress(BadInput):
        return Q(key=str(crawl_of(typed).id))
    return exact  # nothing: the log is empty of it


def plain(entry: AuditEntry) -> dict[str, Any]:
    """An entry as JSON."""
    return {
        "at": entry.at.isoformat(timespec="milliseconds"),
        "act": entry.act,
        "who": entry.actor,
        "account": entry.actor_id,
        "token": entry.token_id,
        "via": entry.via,
        "address": entry.address,
        "kind": entry.kind,
        "id": entry.key,
        "name": entry.name,
        "before": entry.before,
        "after": entry.after,
    }


def line(entry: AuditEntry) -> str:
    """An entry as one line of printable text."""
    return "".join(one if one.isprintable() else "�" for one in "  ".join(_parts(entry)))


def _parts(entry: AuditEntry) -> Iterator[str]:
    yield entry.at.strftime("%Y-%m-%d %H:%M:%S")
    yield f"{entry.act:<20}"
    yield f"{entry.actor or 'nobody'} by {entry.via}" + (f" from {entry.address}" if entry.address else "")
    if entry.kind:
        yield f"{entry.kind} {entry.name or entry.key}"
    if entry.before is not None:
        yield f"before: {json.dumps(entry.before)}"
    if entry.after is not None:
        yield f"after: {json.dumps(entry.after)}"
