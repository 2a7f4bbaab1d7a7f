"""The SQL that inserts and closes page rows for transactions of the writer, and counts pages requested per user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from crawler.core.crawl.discovery import Discovery
from crawler.core.crawl.messages import PAGE, PageResult
from crawler.core.crawl.retries import is_dead_letter
from crawler.core.html.page_metadata import Facts
from crawler.core.url_lists.entries import Entry
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, Usage

ROWS_PER_INSERT = 58  # rows a statement; 17 values each stay under SQLite's smallest limit of 999
LISTED_ROWS_PER_INSERT = 199  # 5 values each

_json = msgspec.json.Encoder().encode

Value = Callable[[PageResult], Any]

_CLOSED_WITH: dict[str, Value] = {
    "outcome": lambda result: result.outcome.value,
    "http_status": attrgetter("http_status"),
    "content_type": lambda result: storable(result.content_type)[:100],
    "title": lambda result: storable(result.title),
    "redirect_to": attrgetter("redirect_to"),
    "bytes": attrgetter("bytes"),
    "elapsed_ms": attrgetter("elapsed_ms"),
    "attempts": attrgetter("attempt"),
    "fetched_at": lambda result: _time(result.fetched_at),
    "error": lambda result: storable(result.error),
    "given_up": is_dead_letter,
    "directives": lambda result: storable(result.directives),
    "not_followed": attrgetter("not_followed"),
    "reused": attrgetter("reused"),
}
"""Column of a page -> its value when the page is closed."""

_CLOSE = f"""
    UPDATE crawler_page SET status = 1, {", ".join(f"{column} = %s" for column in _CLOSED_WITH)}
    WHERE id = %s AND status = 0
"""  # noqa: S608 (the names of columns)


def close_rows(results: Iterable[PageResult]) -> int:
    """Close the open ones of these pages; returns how many."""
    with connection.cursor() as cursor:
        cursor.executemany(_CLOSE, [(*_values(_CLOSED_WITH, result), result.id) for result in results])
        closed: int = cursor.rowcount
    return closed


def _values(columns: Mapping[str, Value], result: PageResult) -> list[Any]:
    return [value_of(result) for value_of in columns.values()]


_NOTE_ATTEMPT = """
    UPDATE crawler_page SET attempts = %s, due_at = %s, put_off = %s, error = %s WHERE id = %s AND status = 0
"""


def note_attempts(results: Iterable[tuple[PageResult, float, int | None]]) -> None:
    """Store the failed attempts of these pages, when each is due again (epoch seconds), and the status of the response
    with that Retry-After."""
    rows = [
        (result.attempt, due_at, put_off, storable(_reason(result)), result.id) for result, due_at, put_off in results
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_NOTE_ATTEMPT, rows)


def _reason(result: PageResult) -> str:
    return result.error or (f"it answered {result.http_status}" if result.http_status else "")


_INSERT = """
    INSERT INTO crawler_page (crawl_id, key, url, status, depth, hops, parent_id, outcome, error, kind, priority, rel,
        linked, in_sitemap, lastmod, trap_id, expires_at, attempts, deaths, died_with, due_at, given_up, content_type,
        title, redirect_to, bytes, elapsed_ms, directives, not_followed, reused)
    VALUES {rows} ON CONFLICT DO NOTHING
"""
_NEW = "0, 0, '', 0, false, '', '', '', 0, 0, '', 0, false"  # the last columns of a page that was not requested yet
_ROW = f"({', '.join(['%s'] * 17)}, {_NEW})"
_LISTED_ROW = f"(%s, %s, %s, 0, 0, 0, NULL, '', '', '{PAGE}', %s, '', true, false, '', NULL, %s, {_NEW})"


_STORE_LINKS = """
    INSERT INTO crawler_pagelinks (page_id, crawl_id, keys, packed) VALUES (%s, %s, %s, %s)
    ON CONFLICT (page_id) DO UPDATE SET keys = excluded.keys, packed = excluded.packed
"""


def store_links(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Store the links of these pages, in place of those of an earlier response."""
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
    rows = [(result.id, crawl_id, result.link_keys, result.linkage) for result in results if result.link_keys]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_STORE_LINKS, rows)


_METADATA: dict[str, Value] = {
    "headers": lambda result: storable(result.headers),
    "first_byte_ms": attrgetter("first_byte_ms"),
    "description": lambda result: storable(result.facts.description),
    "h1": lambda result: storable(result.facts.h1),
    "h1_count": attrgetter("facts.h1_count"),
    "canonical": attrgetter("facts.canonical"),
    "canonicals": attrgetter("facts.canonicals"),
    "digest": attrgetter("facts.digest"),
    "sketch": attrgetter("facts.sketch"),
    "words": attrgetter("facts.words"),
    "insecure": lambda result: _as_json(result.facts.insecure),
    "malformed": lambda result: _as_json(_malformed(result.facts)) if result.facts.malformed else None,
    "fields": lambda result: _as_json(result.facts.fields),
    "notes": lambda result: _as_json(result.facts.notes),
    "kept": lambda result: _as_json(result.kept),
}
"""Column of the metadata of a page -> its value."""

_STORE_METADATA = f"""
    INSERT INTO crawler_pagefacts (page_id, crawl_id, {", ".join(_METADATA)})
    VALUES ({", ".join(["%s"] * (2 + len(_METADATA)))})
    ON CONFLICT (page_id) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _METADATA)}
"""  # noqa: S608 (the names of columns)


def store_facts(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Store headers and metadata of pages with a response, in place of those of an earlier response."""
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
    rows = [(result.id, crawl_id, *_values(_METADATA, result)) for result in results if result.http_status is not None]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_STORE_METADATA, rows)


def _malformed(facts: Facts) -> dict[str, Any]:
    return {"number": facts.malformed_number, "links": [msgspec.structs.asdict(link) for link in facts.malformed]}


def _as_json(value: Any) -> str:
    return _json(_storable_in(value)).decode()


def _storable_in(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case Mapping():
            return {storable(name): _storable_in(part) for name, part in value.items()}
        case list() | tuple():
            return [_storable_in(part) for part in value]
        case _:
            return value


def insert(crawl: Crawl, found: Sequence[Discovery], expires_at: float | None) -> int:
    """Insert pages whose key is new; returns how many. Rows that exist are marked as linked, or as listed in a
    sitemap."""
    chunks = (found[at : at + ROWS_PER_INSERT] for at in range(0, len(found), ROWS_PER_INSERT))
    return sum(_insert_or_note(crawl, chunk, expires_at) for chunk in chunks)


def insert_listed(crawl: UUID, entries: Sequence[Entry], expires_at: float | None) -> int:
    """The same for pages of a list, whose rows differ in few columns: that saves time with a million of them."""
    chunks = (entries[at : at + LISTED_ROWS_PER_INSERT] for at in range(0, len(entries), LISTED_ROWS_PER_INSERT))
    return sum(_insert_listed(crawl, chunk, expires_at) for chunk in chunks)


def _insert_or_note(crawl: Crawl, found: Sequence[Discovery], expires_at: float | None) -> int:
    inserted = _insert_rows(crawl.id, found, expires_at)
    if inserted < len(found) and crawl.chosen.uses_sitemaps:  # without sitemaps every row is linked
        _note_ways(crawl.id, found)
    return inserted


_LIST = """
    UPDATE crawler_page SET in_sitemap = true, lastmod = listed.column2 FROM (VALUES {rows}) AS listed
    WHERE crawl_id = %s AND key = listed.column1 AND NOT in_sitemap
"""


def _note_ways(crawl: UUID, found: Sequence[Discovery]) -> None:
    """The first sitemap that names a page counts; the priority of a page that has a row does not change."""
    linked = [page.key for page in found if page.linked and page.kind == PAGE]
    Page.objects.filter(crawl_id=crawl, key__in=linked, linked=False).update(linked=True)
    listed = [page for page in found if page.in_sitemap]
    if listed:
        values = [value for page in listed for value in (page.key, page.lastmod[:40])]
        crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
        with connection.cursor() as cursor:
            cursor.execute(_LIST.format(rows=", ".join(["(%s, %s)"] * len(listed))), [*values, crawl_id])


def _insert_rows(crawl: UUID, pages: Sequence[Discovery], expires_at: float | None) -> int:
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
    values = [value for page in pages for value in (crawl_id, *_row(page), expires_at)]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT.format(rows=", ".join([_ROW] * len(pages))), values)
        inserted: int = cursor.rowcount
    return inserted


def _insert_listed(crawl: UUID, entries: Sequence[Entry], expires_at: float | None) -> int:
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
    values = [
        value for entry in entries for value in (crawl_id, key_of(entry.url), entry.url, entry.priority, expires_at)
    ]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT.format(rows=", ".join([_LISTED_ROW] * len(entries))), values)
        inserted: int = cursor.rowcount
    return inserted


def _row(page: Discovery) -> tuple[Any, ...]:
    status = Page.OPEN if page.outcome is None else Page.CLOSED
    outcome = page.outcome.value if page.outcome else ""
    return (
        page.key,
        page.url,
        status,
        page.depth,
        page.hops,
        page.parent_id,
        outcome,
        page.error,
        page.kind,
        page.priority,
        page.rel,
        page.linked,
        page.in_sitemap,
        page.lastmod[:40],
        page.trap_id,
    )


def storable(text: str) -> str:
    """Text that both databases accept: PostgreSQL refuses NUL, SQLite half a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _time(epoch_seconds: float) -> Any:
    """A database value for a time, or None for 0: never."""
    moment = datetime.fromtimestamp(epoch_seconds, UTC) if epoch_seconds else None
    return connection.ops.adapt_datetimefield_value(moment) if moment else None


# Pages requested per user and day: one row, updated in the transaction that closes the pages.

KEPT_DAYS = 400  # a year, and some days for comparison

_ADD = """
    INSERT INTO crawler_usage (user_id, day, pages) VALUES (%s, %s, %s)
    ON CONFLICT (user_id, day) DO UPDATE SET pages = crawler_usage.pages + excluded.pages
"""


def add(user: int, pages: int, now: float) -> None:
    """Add pages to a user's day, in the open transaction. `now` (epoch seconds) gives the day."""
    day = datetime.fromtimestamp(now, UTC).date()
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [user, connection.ops.adapt_datefield_value(day), pages])


def delete_before(day: date) -> None:
    Usage.objects.filter(day__lt=day).delete()


def pages_on(user: int, day: date) -> int:
    found = Usage.objects.filter(user=user, day=day).values_list("pages", flat=True).first()
    return found or 0
