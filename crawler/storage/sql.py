"""The SQL that inserts and closes page rows for transactions of the writer, and counts pages requested per user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from crawler.core.html.page_metadata import PageMetadata
from crawler.core.protocol.completion import Limit
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PAGE, PageResult
from crawler.core.protocol.retries import expiry, is_dead_letter
from crawler.core.url_lists.entries import Entry
from crawler.core.urls.normalise import key_of
from crawler.models import Crawl, Page, Usage
from crawler.storage.bulk import POSTGRESQL, Row, Statement

_json = msgspec.json.Encoder().encode

LANE_REASON = str(Page._meta.get_field("lane_reason").column)

_CLOSED_WITH = {
    "outcome": "text",
    "http_status": "smallint",
    "content_type": "text",
    "title": "text",
    "redirect_to": "text",
    "bytes": "bigint",
    "elapsed_ms": "integer",
    "attempts": "smallint",
    "fetched_at": "timestamptz",
    "error": "text",
    "given_up": "boolean",
    "given_up_at": "double precision",
    "directives": "text",
    "not_followed": "integer",
    "reused": "boolean",
    LANE_REASON: "text",
}
"""Columns that are set when a page is closed."""

_CLOSE = Statement(
    f"""
    UPDATE crawler_page SET status = 1, {", ".join(f"{column} = {{{column}}}" for column in _CLOSED_WITH)} {{rows}}
    WHERE id = {{page}} AND status = 0
    """,  # noqa: S608 (the names of columns)
    {"page": "bigint", **_CLOSED_WITH},
)


def close_rows(results: Iterable[PageResult], now: float) -> int:
    """Close the open ones of these pages, each named once; returns how many."""
    return _CLOSE.run([_closed(result, now) for result in results])


def _closed(result: PageResult, now: float) -> Row:
    given_up = is_dead_letter(result)
    return {
        "page": result.id,
        "outcome": result.outcome.value,
        "http_status": result.http_status,
        "content_type": storable(result.content_type)[:100],
        "title": storable(result.title),
        "redirect_to": result.redirect_to,
        "bytes": result.bytes,
        "elapsed_ms": result.elapsed_ms,
        "attempts": result.attempt,
        "fetched_at": _time(result.fetched_at),
        "error": storable(result.error),
        "given_up": given_up,
        "given_up_at": now if given_up else 0,
        "directives": storable(result.directives),
        "not_followed": result.not_followed,
        "reused": result.reused,
        LANE_REASON: result.lane_reason,
    }


_NOTE_LANE_REASON = Statement(
    f"""
    UPDATE crawler_page SET {LANE_REASON} = {{reason}} {{rows}}
    WHERE crawler_page.{LANE_REASON} = '' AND id = {{page}} AND status = 0
    """,  # noqa: S608 (the name of a column)
    {"page": "bigint", "reason": "text"},
)


def note_lane_reasons(results: Iterable[PageResult]) -> None:
    """Note that these pages are to take a slot lane, and why."""
    _NOTE_LANE_REASON.run([{"page": result.id, "reason": result.needs_lane} for result in results])


_NOTE_ATTEMPT = Statement(
    """
    UPDATE crawler_page SET attempts = {attempts}, due_at = {due_at}, due_since = {due_at}, put_off = {put_off},
        error = {error} {rows}
    WHERE id = {page} AND status = 0
    """,
    {
        "page": "bigint",
        "attempts": "smallint",
        "due_at": "double precision",
        "put_off": "smallint",
        "error": "text",
    },
)


def note_attempts(results: Iterable[tuple[PageResult, float, int | None]]) -> None:
    """Store the failed attempts of these pages, when each is due again (epoch seconds), and the status of the response
    with that Retry-After."""
    _NOTE_ATTEMPT.run(
        [
            {
                "page": result.id,
                "attempts": result.attempt,
                "due_at": due_at,
                "put_off": put_off,
                "error": storable(_reason(result)),
            }
            for result, due_at, put_off in results
        ]
    )


def _reason(result: PageResult) -> str:
    return result.error or (f"the server returned {result.http_status}" if result.http_status else "")


_STORE_LINKS = Statement(
    """
    INSERT INTO crawler_pagelinks (page_id, crawl_id, keys, packed) SELECT {page}, {crawl}, {keys}, {packed} {rows}
    WHERE true ON CONFLICT (page_id) DO UPDATE SET keys = excluded.keys, packed = excluded.packed
    """,
    {"page": "bigint", "crawl": "uuid", "keys": "bytea", "packed": "bytea"},
)


def store_links(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Store the links of these pages, replacing the links of an earlier response."""
    crawl_id = stored_id(crawl)
    _STORE_LINKS.run(
        [
            {"page": result.id, "crawl": crawl_id, "keys": result.link_keys, "packed": result.linkage}
            for result in results
            if result.link_keys
        ]
    )


_METADATA = {
    "headers": "text",
    "first_byte_ms": "integer",
    "certificate_error": "text",
    "description": "text",
    "h1": "text",
    "h1_count": "integer",
    "canonical": "text",
    "canonicals": "integer",
    "digest": "bytea",
    "sketch": "bytea",
    "words": "integer",
    "insecure": "jsonb",
    "malformed": "jsonb",
    "fields": "jsonb",
    "notes": "jsonb",
    "kept": "jsonb",
}
"""Columns of the metadata of a page."""

_STORE_METADATA = Statement(
    f"""
    INSERT INTO crawler_pagefacts (page_id, crawl_id, {", ".join(_METADATA)})
    SELECT {{page}}, {{crawl}}, {", ".join(f"{{{column}}}" for column in _METADATA)} {{rows}}
    WHERE true ON CONFLICT (page_id) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in _METADATA)}
    """,
    {"page": "bigint", "crawl": "uuid", **_METADATA},
)


def store_facts(crawl: UUID, results: Iterable[PageResult]) -> None:
    """Store headers and metadata of pages with a response, replacing an earlier response's."""
    crawl_id = stored_id(crawl)
    rows = [{"crawl": crawl_id, **_metadata(result)} for result in results if result.http_status is not None]
    _STORE_METADATA.run(rows)


def _metadata(result: PageResult) -> Row:
    facts = result.facts
    return {
        "page": result.id,
        "headers": storable(result.headers),
        "first_byte_ms": result.first_byte_ms,
        "certificate_error": result.certificate_error,
        "description": storable(facts.description),
        "h1": storable(facts.h1),
        "h1_count": facts.h1_count,
        "canonical": facts.canonical,
        "canonicals": facts.canonicals,
        "digest": facts.digest,
        "sketch": facts.sketch,
        "words": facts.words,
        "insecure": as_json(facts.insecure),
        "malformed": as_json(_malformed(facts)) if facts.malformed else None,
        "fields": as_json(facts.fields),
        "notes": as_json(facts.notes),
        "kept": as_json(result.kept),
    }


def _malformed(facts: PageMetadata) -> dict[str, Any]:
    return {"number": facts.malformed_number, "links": [msgspec.structs.asdict(link) for link in facts.malformed]}


def as_json(value: Any) -> str:
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


_INSERTED = {
    "crawl_id": "uuid",
    "key": "bytea",
    "url": "text",
    "status": "smallint",
    "depth": "integer",
    "hops": "smallint",
    "parent_id": "bigint",
    "outcome": "text",
    "closed_by": "text",
    "error": "text",
    "kind": "text",
    "priority": "smallint",
    "rel": "text",
    "linked": "boolean",
    "in_sitemap": "boolean",
    "lastmod": "text",
    "trap_id": "bigint",
    "expires_at": "double precision",
    "due_since": "double precision",
}
"""Columns of a page that differ when it is inserted."""

_LISTED = {
    "crawl_id": "uuid",
    "key": "bytea",
    "url": "text",
    "priority": "smallint",
    "due_at": "double precision",
    "due_since": "double precision",
    "not_before": "double precision",
    "expires_at": "double precision",
    "meta": "jsonb",
}
"""Those that differ for pages of a list. The others are literals: that saves time with a million of them."""

_START = {
    "status": "0",
    "depth": "0",
    "hops": "0",
    "parent_id": "NULL",
    "outcome": "''",
    "closed_by": "NULL",
    "error": "''",
    "kind": f"'{PAGE}'",
    "rel": "''",
    "linked": "true",
    "in_sitemap": "false",
    "lastmod": "''",
    "trap_id": "NULL",
    "public_only": "false",
    "due_at": "0",
    "not_before": "NULL",
    "meta": "NULL",
}
"""Column -> literal, of a start page."""


def _insert_statement(types: Mapping[str, str], **literals: str) -> Statement:
    columns, fixed = (*_INSERTED, "public_only", "due_at", "not_before", "meta"), {**_START, **literals}
    values = ", ".join(f"{{{column}}}" if column in types else fixed[column] for column in columns)
    return Statement(
        f"""
        INSERT INTO crawler_page ({", ".join(columns)}, attempts, deaths, died_with, given_up, content_type, title,
            redirect_to, bytes, elapsed_ms, directives, not_followed, reused)
        SELECT {values}, 0, 0, '', false, '', '', '', 0, 0, '', 0, false {{rows}}
        WHERE true ON CONFLICT DO NOTHING
        """,
        types,
    )


_INSERT, _INSERT_LISTED = _insert_statement(_INSERTED), _insert_statement(_LISTED)
_INSERT_PUBLIC_ONLY = _insert_statement(_INSERTED, public_only="true")
_INSERT_LISTED_PUBLIC_ONLY = _insert_statement(_LISTED, public_only="true")


def insert(crawl: Crawl, found: Sequence[Discovery], limit: Limit | None, expires_at: float | None, now: float) -> int:
    """Insert pages whose key is new, closed by this limit if there is one; returns how many. Rows that exist are
    marked as linked, or as listed in a sitemap."""
    crawl_id = stored_id(crawl.id)
    inserted = 0
    for statement, public_only in ((_INSERT, False), (_INSERT_PUBLIC_ONLY, True)):
        rows = [_row(page, crawl_id, limit, expires_at, now) for page in found if page.public_only is public_only]
        inserted += statement.run(rows) if rows else 0
    if inserted < len(found) and crawl.chosen.uses_sitemaps:  # without sitemaps every row is linked
        _note_ways(crawl_id, found)
    return inserted


def insert_listed(
    crawl: Crawl, entries: Sequence[Entry], priorities: Sequence[int], now: float, *, public_only: bool = False
) -> int:
    """The same for pages of a list, with these priorities in place of theirs."""
    crawl_id, began = stored_id(crawl.id), crawl.round_began_at.timestamp()
    usual = expiry(crawl.chosen, began, now)
    statement = _INSERT_LISTED_PUBLIC_ONLY if public_only else _INSERT_LISTED
    return statement.run(
        [
            {
                "crawl_id": crawl_id,
                "key": key_of(entry.url),
                "url": entry.url,
                "priority": priority,
                "due_at": entry.not_before if entry.not_before is not None and entry.not_before > now else 0,
                "due_since": max(now, entry.not_before or 0.0),
                "not_before": entry.not_before,
                "expires_at": usual if entry.ttl is None else expiry(crawl.chosen, began, now, entry.ttl),
                "meta": None if entry.meta is None else as_json(entry.meta),
            }
            for entry, priority in zip(entries, priorities, strict=True)
        ]
    )


_SET_TIMES = Statement(
    """
    UPDATE crawler_page
    SET due_at = {due}, due_since = {due}, not_before = {due}, put_off = NULL, expires_at = {expires} {rows}
    WHERE crawler_page.id = {id}
    """,
    {"id": "bigint", "due": "double precision", "expires": "double precision"},
)
_SET_EXPIRY = Statement(
    "UPDATE crawler_page SET expires_at = {expires} {rows} WHERE crawler_page.id = {id}",
    {"id": "bigint", "expires": "double precision"},
)


def set_times(rows: Sequence[Row]) -> None:
    """Postpone open pages (`id`) to their time (`due`), and set when they expire (`expires`), in epoch seconds."""
    _SET_TIMES.run(rows)


def set_expiry(rows: Sequence[Row]) -> None:
    """Set when open pages (`id`) expire (`expires`)."""
    _SET_EXPIRY.run(rows)


_LINK = Statement(
    "UPDATE crawler_page SET linked = true {rows} WHERE crawl_id = {crawl} AND crawler_page.key = {key} AND NOT linked",
    {"crawl": "uuid", "key": "bytea"},
)
_LIST = Statement(
    """
    UPDATE crawler_page SET in_sitemap = true, lastmod = {lastmod} {rows}
    WHERE crawl_id = {crawl} AND crawler_page.key = {key} AND NOT in_sitemap
    """,
    {"crawl": "uuid", "key": "bytea", "lastmod": "text"},
)


def _note_ways(crawl_id: Any, found: Sequence[Discovery]) -> None:
    """The first sitemap that names a page counts; the priority of a page that has a row does not change."""
    _LINK.run([{"crawl": crawl_id, "key": page.key} for page in found if page.linked and page.kind == PAGE])
    _LIST.run([{"crawl": crawl_id, "key": page.key, "lastmod": page.lastmod[:40]} for page in found if page.in_sitemap])


def _row(page: Discovery, crawl_id: Any, limit: Limit | None, expires_at: float | None, now: float) -> Row:
    return {
        "crawl_id": crawl_id,
        "key": page.key,
        "url": page.url,
        "status": Page.OPEN if page.outcome is None else Page.CLOSED,
        "depth": page.depth,
        "hops": page.hops,
        "parent_id": page.parent_id,
        "outcome": page.outcome.value if page.outcome else "",
        "closed_by": limit,
        "error": page.error,
        "kind": page.kind,
        "priority": page.priority,
        "rel": page.rel,
        "linked": page.linked,
        "in_sitemap": page.in_sitemap,
        "lastmod": page.lastmod[:40],
        "trap_id": page.trap_id,
        "expires_at": expires_at,
        "due_since": now,
    }


def stored_id(crawl: UUID) -> Any:
    """The id as the database stores it: SQLite as text."""
    return Crawl._meta.pk.get_db_prep_value(crawl, connection)


def storable(text: str) -> str:
    """Text that both databases accept: PostgreSQL refuses NUL, SQLite half a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _time(epoch_seconds: float) -> Any:
    """A database value for a time, or None for 0: never."""
    moment = datetime.fromtimestamp(epoch_seconds, UTC) if epoch_seconds else None
    return connection.ops.adapt_datetimefield_value(moment) if moment else None


# Ids of page rows that a database had before it was replaced by an older one.

IDS_PER_SKIP = 100_000  # a statement, which takes PostgreSQL about 0.2 s

_SKIP_IDS_ON_POSTGRESQL = """
    SELECT count(nextval(ids))
    FROM (SELECT pg_get_serial_sequence('crawler_page', 'id')::regclass AS ids) AS sequence,
         generate_series(1, least(%s - coalesce(pg_sequence_last_value(ids), 0), %s))
"""
_SKIP_IDS_ON_SQLITE = "UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = 'crawler_page'"


def skip_ids(up_to: int, between: Callable[[], object]) -> None:
    """Give page rows only higher ids than this one. On PostgreSQL they are taken one by one, and `between` is called
    after some: a sequence that is set could be set back behind ids that other crawls take meanwhile."""
    with connection.cursor() as cursor:
        if connection.vendor != POSTGRESQL:
            cursor.execute(_SKIP_IDS_ON_SQLITE, [up_to])
            return
        while True:
            cursor.execute(_SKIP_IDS_ON_POSTGRESQL, [up_to, IDS_PER_SKIP])
            if cursor.fetchone()[0] == 0:
                return
            between()


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
