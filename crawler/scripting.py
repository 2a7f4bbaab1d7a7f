"""Crawls from Python code, in a process with Django's settings: `from crawler import start, results`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User

from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.crawls.start import start_crawl
from crawler.exports.rows import rows
from crawler.models import Crawl


def start(*urls: str, owner: User | None = None, allow_private: bool = False, **options: Any) -> Crawl:
    """Start a crawl over these URLs, and return its row: `id`, `state`, `is_over`, and the counters after
    `refresh_from_db()`. `options` have the names of the API's fields, such as `max_pages=100`. Workers do the rest.

    Raises BadInput (an unknown option, or a URL or value that cannot be used) and ServiceDown (Redis or the database
    does not respond) of `crawler.core.errors`; then nothing was created. `allow_private` is for sites on this machine
    or network.
    """
    unknown = sorted(options.keys() - set(CrawlOptions.__struct_fields__))
    if unknown:
        raise BadInput(unknown[0], f"There is no option {unknown[0]}; docs/options.md lists them.")
    try:
        chosen = msgspec.convert(options, CrawlOptions)
    except msgspec.ValidationError as error:
        raise BadInput("options", f"{error}.") from None
    return start_crawl(urls, chosen, owner=owner, allow_private=allow_private)


def results(crawl: Crawl | UUID | str) -> Iterator[dict[str, Any]]:
    """The pages of a crawl that have an outcome, in the order of their discovery: the rows of its export as JSON lines,
    see docs/exports.md. Read from the table as they are asked for. Raises Crawl.DoesNotExist."""
    yield from rows(crawl if isinstance(crawl, Crawl) else Crawl.objects.get(id=crawl))
