"""Runs one SQL statement for many rows, as each database does it fastest.

PostgreSQL gets all rows as one JSON parameter and runs the statement once; SQLite has no round trips to save, and runs
it once a row, prepared. Either way all rows are stored or none, in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from string import Formatter
from typing import Any, TypeVar

import msgspec
from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

POSTGRESQL = "postgresql"
ROWS_PER_STATEMENT = (
    5_000  # bounds the parameter: a row of page metadata has some 1,000 bytes, a page's links some 2,000
)

VALUES_PER_STATEMENT = 900  # SQLite's smallest limit is 999

T = TypeVar("T")
Row = Mapping[str, Any]
"""Column -> value. Bytes and JSON (as text) as SQLite takes them; other values as Django's backends adapt them."""

_json = msgspec.json.Encoder().encode  # bytes become Base64

_FROM_TEXT = {"bytea": "decode({}, 'base64')", "jsonb": "{}::jsonb"}
"""Type -> how PostgreSQL reads it from the text in the JSON parameter; the other types it reads itself."""


class Statement:
    """A statement that takes many rows. In its SQL `{name}` is a row's value of that name, and `{rows}` the place of
    its FROM clause; `types` has each name with its type in PostgreSQL. Outside of SET a column with the name of a value
    needs its table's name before it."""

    def __init__(self, sql: str, types: Mapping[str, str]) -> None:
        names = [name for _, name, _, _ in Formatter().parse(sql) if name and name != "rows"]
        self._row_by_row = sql.format(rows="", **dict.fromkeys(types, "%s"))
        self._values = itemgetter(*names)  # by place: SQLite would look up each name in each row
        self._set_based = sql.format(rows=_recordset(types), **{name: f"given.{name}" for name in types})

    def run(self, rows: Sequence[Row]) -> int:
        """Run it for these rows; returns how many rows of the table it changed."""
        changed = 0
        with connection.cursor() as cursor:
            for at in range(0, len(rows), ROWS_PER_STATEMENT):
                part = rows[at : at + ROWS_PER_STATEMENT]
                if connection.vendor == POSTGRESQL:
                    cursor.execute(self._set_based, [_json(part).decode()])
                else:
                    cursor.executemany(self._row_by_row, [self._values(row) for row in part])
                changed += cursor.rowcount
        return changed


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many as one statement may have as parameters."""
    return (values[at : at + VALUES_PER_STATEMENT] for at in range(0, len(values), VALUES_PER_STATEMENT))


def is_among(column: str, ids: Iterable[int]) -> RawSQL:
    """The condition that a column is one of these, however many, as one parameter: Django's `__in` takes one each."""
    named = list(ids)
    if connection.vendor == POSTGRESQL:
        return RawSQL(f"{column} = ANY(%s::bigint[])", [named], BooleanField())  # noqa: S611 (the name of a column)
    sql = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608 (the same)
    return RawSQL(sql, [_json(named).decode()], BooleanField())  # noqa: S611


def _recordset(types: Mapping[str, str]) -> str:
    """The rows of the JSON parameter as a relation `given`."""
    values = ", ".join(
        f"{_FROM_TEXT[kind].format(name)} AS {name}" if kind in _FROM_TEXT else name for name, kind in types.items()
    )
    given = ", ".join(f"{name} {'text' if kind in _FROM_TEXT else kind}" for name, kind in types.items())
    return f"FROM (SELECT {values} FROM json_to_recordset(%s) AS row ({given})) AS given"  # noqa: S608 (names of columns)
