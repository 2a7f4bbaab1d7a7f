"""Crawls named on the command line: by their ID, the beginning of it, their site, or @last."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from uuid import UUID

from django.db.models import Q, QuerySet

from crawler.core.errors import BadInput
from crawler.models import Crawl

NEWEST = "@last"
HELP = "the crawl: its ID or its first characters, its site (newest crawl), or @last"
MAX_CANDIDATES = 5

_BEGINNING = re.compile(r"[0-9a-f][0-9a-f-]{0,35}")


def add_crawl(parser: ArgumentParser) -> None:
    """Add the ID argument of a crawl, which `crawl_of` reads."""
    parser.add_argument("id", metavar="ID", help=HELP)


def crawl_of(typed: str) -> Crawl:
    """The crawl that a user named. Raises BadInput if there is none, or several begin like this."""
    name = typed.strip().lower()
    if name == NEWEST:
        named = _newest(Crawl.objects.all())
        if named is None:
            raise BadInput("id", "There are no crawls yet. Start one: bin/crawl https://example.com/")
        return named
    found = _beginning_with(name) or _newest(_of_site(name))
    if found is None:
        raise BadInput("id", f"There is no crawl {typed!r}; `manage.py status` lists them.")
    return found


def _newest(crawls: QuerySet[Crawl]) -> Crawl | None:
    return crawls.order_by("-created_at", "-id").first()


def _beginning_with(name: str) -> Crawl | None:
    """The one crawl whose ID begins like this. Raises BadInput if there are several."""
    digits = name.replace("-", "")
    if not _BEGINNING.fullmatch(name) or len(digits) > 32:
        return None
    least, most = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    found = list(Crawl.objects.filter(id__gte=least, id__lte=most).order_by("-created_at")[: MAX_CANDIDATES + 1])
    if len(found) <= 1:
        return found[0] if found else None
    named = [f"\n  {crawl.id}  {crawl.state}  {crawl.site}" for crawl in found[:MAX_CANDIDATES]]
    more = "\n  ..." if len(found) > MAX_CANDIDATES else ""
    raise BadInput("id", f"Several crawls begin with {name}; type more characters of the ID:{''.join(named)}{more}")


def _of_site(name: str) -> QuerySet[Crawl]:
    """The crawls of a list of this name, or whose first start URL begins with this host, or host and path."""
    site = re.sub(r"^https?://", "", name).rstrip("/")
    if not site:
        return Crawl.objects.none()
    chosen = Q(source__iexact=name)
    for origin in (f"{scheme}://{www}{site}" for scheme in ("https", "http") for www in ("", "www.")):
        chosen |= Q(start_urls__0=origin) | Q(start_urls__0__startswith=f"{origin}/")
        if ":" not in site and "/" not in site:
            chosen |= Q(start_urls__0__startswith=f"{origin}:")
    return Crawl.objects.filter(chosen)
