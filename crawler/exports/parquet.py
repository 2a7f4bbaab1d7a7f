"""The pages of a crawl as Apache Parquet: typed columns, compressed, written a group of rows at a time.

What an extracted value should be is known from its rule, and so is the type of its column, before any page is read. A
value of another kind, which only a database that was written to by hand can hold, is null: the file stays readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, assert_never

import msgspec

from crawler.exports.file import Sink
from crawler.exports.rows import Chosen, Column, Kind, columns_of, rows
from crawler.models import Crawl

if TYPE_CHECKING:
    import pyarrow

GROUP = 5_000  # rows; what is in memory at a time
LARGEST = 2**63

_as_json = msgspec.json.Encoder().encode


def pieces(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[bytes]:
    """One row a page. Times and dates are timestamps in UTC; what has no type of its own is text, or JSON."""
    import pyarrow as arrow  # half a second and 60 MB, which no other command should pay for
    from pyarrow import parquet

    columns = columns_of(crawl)
    schema = arrow.schema([(column.name, _type(column)) for column in columns])
    sink = Sink()
    found = rows(crawl, **chosen)
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        while group := list(islice(found, GROUP)):
            writer.write_table(_table(group, columns, schema))
            yield sink.taken()
    yield sink.taken()


def _table(group: Sequence[dict[str, Any]], columns: Sequence[Column], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow as arrow  # as above

    values = {column.name: _cells(column, (row[column.name] for row in group)) for column in columns}
    return arrow.table(values, schema=schema)


def _type(column: Column) -> pyarrow.DataType:
    import pyarrow as arrow  # as above

    kind = _type_of(column.kind)
    return arrow.list_(kind) if column.many else kind


def _type_of(kind: Kind) -> pyarrow.DataType:
    import pyarrow as arrow  # as above

    match kind:
        case Kind.TEXT | Kind.ANY:
            return arrow.string()
        case Kind.NUMBER:
            return arrow.int64()
        case Kind.DECIMAL:
            return arrow.float64()
        case Kind.TRUTH:
            return arrow.bool_()
        case Kind.MOMENT:
            return arrow.timestamp("ms", tz="UTC")
        case Kind.DATE:
            return arrow.timestamp("us", tz="UTC")  # a written date can have them
    assert_never(kind)


def _cells(column: Column, values: Iterable[Any]) -> list[Any]:
    read = _READ[column.kind]
    if column.many:
        return [[read(one) for one in value] if isinstance(value, list) else None for value in values]
    return [None if value is None else read(value) for value in values]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < LARGEST else None


def _decimal(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _moment(value: Any) -> datetime | None:
    """A day is its beginning; what names no zone is in UTC."""
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):  # the last: at the very beginning or end of the calendar
        return None


def _any(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value).decode()


_READ: dict[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: _text,
    Kind.NUMBER: _number,
    Kind.DECIMAL: _decimal,
    Kind.TRUTH: _truth,
    Kind.MOMENT: _moment,
    Kind.DATE: _moment,
    Kind.ANY: _any,
}
