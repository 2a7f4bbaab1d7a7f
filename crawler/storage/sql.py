"""The statements that insert and close page rows, many at a time; for the transactions of `crawler.storage.writer`
alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
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

_CLOSE = """
    UPDATE crawler_page SET status = 1, outcome = %s, http_status = %s, content_type = %s, title = %s, redirect_to = %s,
        bytes = %s, elapsed_ms = %s, attempts = %s, fetched_at = %s, error = %s, given_up = %s,
        directives = %s, not_followed = %s, reused = %s
    WHERE id = %s AND status = 0
"""


def close_rows(results: Iterable[PageResult]) -> int:
    """Close the rows of these pages, as far as they are open; how many were."""
    with connection.cursor() as cursor:
        cursor.executemany(_CLOSE, [_closing(result) for result in results])
        closed: int = cursor.rowcount
    return closed


def _closing(result: PageResult) -> tuple[Any, ...]:
    return (
        result.outcome.value,
        result.http_status,
        storable(result.content_type)[:100],
        storable(result.title),
        result.redirect_to,
        result.bytes,
        result.elapsed_ms,
        result.attempt,
        _moment(result.fetched_at),
        storable(result.error),
        is_dead_letter(result),
        storable(result.directives),
        result.not_followed,
        result.reused,
        result.id,
    )


_NOTE_ATTEMPT = """
    UPDATE crawler_page SET attempts = %s, due_at = %s, put_off = %s, error = %s WHERE id = %s AND status = 0
"""


def note_attempts(results: Iterable[tuple[PageResult, float, int | None]]) -> None:
    """Note on these pages' rows that they were asked for in vain, when they are due again (epoch seconds), and the
    status of the response that asked for this wait."""
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
_NEW = "0, 0, '', 0, false, '', '', '', 0, 0, '', 0, false"  # what nothing was asked for yet has in the last columns
_ROW = f"({', '.join(['%s'] * 17)}, {_NEW})"
_LISTED_ROW = f"(%s, %s, %s, 0, 0, 0, NULL, '', '', '{PAGE}', %s, '', true, false, '', NULL, %s, {_NEW})"


_KEEP_LINKS = """
    INSERT INTO crawler_pagelinks (page_id, crawl_id, keys, packed) VALUES (%s, %s, %s, %s)
    ON CONFLICT (page_id) DO UPDATE SET keys = excluded.keys, packed = excluded.packed
"""


def store_links(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Keep the links of pages that were closed with any; those of a page that was asked for again are replaced."""
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
    rows = [(result.id, crawl_id, result.link_keys, result.linkage) for result in results if result.link_keys]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_KEEP_LINKS, rows)


_FACTS = (
    "headers, first_byte_ms, description, h1, h1_count, canonical, canonicals, digest, sketch, words, insecure,"
    " malformed, fields, notes, kept"
)
_KEEP_FACTS = f"""
    INSERT INTO crawler_pagefacts (page_id, crawl_id, {_FACTS}) VALUES ({", ".join(["%s"] * 17)})
    ON CONFLICT (page_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _FACTS.split(", "))}
"""  # noqa: S608 (the names of columns)


def store_facts(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Keep what the answers and pages said; of a page that was asked for again, what is said now."""
    crawl_id = Crawl._meta.pk.get_db_prep_value(crawl, connection)
    rows = [(result.id, crawl_id, *_facts(result)) for result in results if result.http_status is not None]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_KEEP_FACTS, rows)


def _facts(result: PageResult) -> tuple[Any, ...]:
    facts = result.facts
    return (
        storable(result.headers),
        result.first_byte_ms,
        storable(facts.description),
        storable(facts.h1),
        facts.h1_count,
        facts.canonical,
        facts.canonicals,
        facts.digest,
        facts.sketch,
        facts.words,
        _as_json(facts.insecure),
        _as_json(_malformed(facts)) if facts.malformed else None,
        _as_json(facts.fields),
        _as_json(facts.notes),
        _as_json(result.kept),
    )


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
    """Insert pages whose key is new; how many were. On rows that were there it is noted that a link, or a sitemap,
    leads to them too."""
    chunks = (found[at : at + ROWS_PER_INSERT] for at in range(0, len(found), ROWS_PER_INSERT))
    return sum(_insert_or_note(crawl, chunk, expires_at) for chunk in chunks)


def insert_listed(crawl: UUID, entries: Sequence[Entry], expires_at: float | None) -> int:
    """The same for pages of a list. Of a million rows it matters that most values are the same in all of them."""
    chunks = (entries[at : at + LISTED_ROWS_PER_INSERT] for at in range(0, len(entries), LISTED_ROWS_PER_INSERT))
    return sum(_insert_listed(crawl, chunk, expires_at) for chunk in chunks)


def _insert_or_note(crawl: Crawl, found: Sequence[Discovery], expires_at: float | None) -> int:
    inserted = _insert_rows(crawl.id, found, expires_at)
    if inserted < len(found) and crawl.chosen.uses_sitemaps:  # in others every row says that it is linked
        _note_ways(crawl.id, found)
    return inserted


_LIST = """
    UPDATE crawler_page SET in_sitemap = true, lastmod = listed.column2 FROM (VALUES {rows}) AS listed
    WHERE crawl_id = %s AND key = listed.column1 AND NOT in_sitemap
"""


def _note_ways(crawl: UUID, found: Sequence[Discovery]) -> None:
    """Of two sitemaps that name a page the first counts, and the priority of a page that is known stays as it is."""
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
    """Text as both databases take it: PostgreSQL has no place for NUL, SQLite none for half a surrogate pair. A page
    that holds either must not stop the crawl."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _moment(epoch_seconds: float) -> Any:
    """A database value for a time, or None for 0: never."""
    moment = datetime.fromtimestamp(epoch_seconds, UTC) if epoch_seconds else None
    return connection.ops.adapt_datetimefield_value(moment) if moment else None


# Pages requested per user and day: one row, updated in the transaction that closes the pages.

KEPT_DAYS = 400  # a year, and some days to compare with

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
