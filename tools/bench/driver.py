"""Starts one crawl of ours and waits until "finished" is committed: `python -m tools.bench.driver JSON`.

The JSON object has `urls` or `list` (a file), `options` of the crawl, and `every`: seconds between two lines about how
far it is; 0 = none. Its last line is what came of it. It is a process of its own because it needs the settings, and the
packages, of the workers it waits for.

`seconds` counts from the start row's own time, which is taken just before it is committed, to the moment at which this
process sees "finished" in the table, so that it is never less than what it is to measure.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LOOK_EVERY = 0.01  # seconds
LOOK_SELDOM = 0.25  # where lines about the progress are asked for: such a crawl takes minutes


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    import django  # only now: the settings must be named before

    django.setup()
    from crawler.models import Crawl  # only now, for the same reason

    given = json.loads(sys.argv[1])
    if given.get("must_be_empty") and Crawl.objects.exists():
        raise SystemExit("There are crawls in this database; a measurement takes an empty one.")
    crawl = _begun(given)
    every = given.get("every", 0)
    told_at = 0.0
    while not _is_over(crawl.pk):
        if every and time.time() - told_at >= every:
            told_at = time.time()
            _tell(_progress(crawl))
        time.sleep(LOOK_SELDOM if every else LOOK_EVERY)
    ended = time.time()
    _tell({"over": True, "seconds": ended - crawl.created_at.timestamp(), **_progress(crawl), **_stored(crawl)})
    if given.get("delete"):
        crawl.delete()


def _begun(given: dict[str, Any]) -> Any:
    from crawler.core.options.catalogue import CrawlOptions
    from crawler.crawls.import_urls import load_list
    from crawler.crawls.start import start_crawl

    options = CrawlOptions.from_plain(given["options"])
    if "list" not in given:
        return start_crawl(given["urls"], options, allow_private=True)
    with Path(given["list"]).open("rb") as stream:
        return load_list(stream, "urls.txt", options, allow_private=True)


def _is_over(crawl_id: Any) -> bool:
    from django.db import connection

    shown = crawl_id.hex if connection.vendor == "sqlite" else crawl_id  # as Django keeps a UUID
    with connection.cursor() as cursor:
        cursor.execute("SELECT finished_at FROM crawler_crawl WHERE id = %s", [shown])
        return cursor.fetchone()[0] is not None


def _progress(crawl: Any) -> dict[str, Any]:
    crawl.refresh_from_db()
    closed = sum(crawl.outcomes.values())
    return {
        "at": time.time() - crawl.created_at.timestamp(),
        "crawl": str(crawl.pk),
        "state": crawl.state,
        "discovered": crawl.discovered,
        "closed": closed,
        "requests": crawl.requests,
        "database_bytes": _database_bytes(),
    }


def _database_bytes() -> int:
    """Tables and indexes, as of the last commit."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def _stored(crawl: Any) -> dict[str, Any]:
    """What the tables have of a crawl that is over."""
    from django.db.models import Sum
    from django.db.models.functions import Length

    from crawler.core.html.link_codec import KEY_BYTES
    from crawler.models import Page, PageLinks
    from crawler.reports.receipt import receipt_of

    rows = Page.objects.filter(crawl=crawl)
    pages = rows.filter(kind="page", http_status=200, content_type__contains="html").count()
    kept = PageLinks.objects.filter(crawl=crawl).aggregate(bytes=Sum(Length("keys")))["bytes"] or 0
    links = kept // KEY_BYTES
    return {"pages": pages, "rows": rows.count(), "links": links, "receipt": receipt_of(crawl)}


def _tell(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
