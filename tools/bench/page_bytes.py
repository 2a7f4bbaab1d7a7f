"""`bin/bench bytes`: what a page takes of the database's disk: its row, its links, its metadata and their indexes.

The generated site is crawled as by `bin/bench collect`. It is measured twice: as the crawl leaves the database, with
the room that its updates left behind, and after that was given back (VACUUM).
"""

from __future__ import annotations

import json
import os
import tempfile
from argparse import Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import django

from tools.bench.collect import crawled
from tools.bench.reports import database, migrate
from tools.bench.services import own_redis

LEAST_SHOWN = 2  # bytes a page
LARGE_CRAWLS = 10_000_000, 100_000_000  # pages
GB = 1_000_000_000

Sizes = Mapping[str, int]
"""Name of a table or index -> bytes. What a table keeps beside its rows (TOAST) is in it."""

_SIZES = {
    "postgresql": """
        SELECT relname, CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END FROM pg_class
        WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
    """,
    "sqlite": "SELECT name, sum(pgsize) FROM dbstat GROUP BY name",
}
_PACK = {"postgresql": "VACUUM FULL", "sqlite": "VACUUM"}
_UPDATES = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'crawler_page'"

_ROW = "{:<45} {:>12} {:>12}"


def main(chosen: Namespace) -> int:
    """1. Redis and a database of its own. 2. A crawl of so many pages. 3. Tell what they take, as left and packed."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as services:
        work = Path(name)
        os.environ |= {"CRAWLER_DATA_DIR": str(work), "REDIS_URL": services.enter_context(own_redis(work))}
        os.environ["DATABASE_URL"] = database(chosen, work, services)
        os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.development"
        django.setup()
        migrate()
        crawled(chosen.pages, chosen.batch)
        left, updates = sizes(), hot_updates()
        pack()
        packed = sizes()
    print(told(left, packed, chosen.pages), *updates, sep="\n")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps({"pages": chosen.pages, "left": left, "packed": packed}, indent=1) + "\n")
    return 0


def sizes() -> Sizes:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_SIZES[connection.vendor])
        return {name: int(size) for name, size in cursor.fetchall()}


def pack() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_PACK[connection.vendor])


def hot_updates() -> list[str]:
    """A line about how PostgreSQL updated the rows of pages. HOT: without a new entry in each index."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(_UPDATES)
        updates, hot = cursor.fetchone()
    return [f"{updates:,} updates of page rows, {hot:,} of them HOT"]


def told(left: Sizes, packed: Sizes, pages: int) -> str:
    lines = [_ROW.format("bytes a page", "as left", "packed")]
    for name in sorted(left, key=lambda name: -left[name]):
        if left[name] >= LEAST_SHOWN * pages:
            lines.append(_line(name, left[name] / pages, packed[name] / pages))
    totals = [sum(of.values()) / pages for of in (left, packed)]
    lines.append(_line("all", *totals))
    lines += [_line(f"{crawl:,} pages, GB", *(each * crawl / GB for each in totals)) for crawl in LARGE_CRAWLS]
    return "\n".join(lines)


def _line(name: str, left: float, packed: float) -> str:
    return _ROW.format(name, f"{left:,.0f}", f"{packed:,.0f}")
