"""The pages of a crawl as Apache Parquet: typed columns, compressed, written a group of rows at a time.

The rule of an extracted field gives the type of its column before any page is read. A value of another type, which only
a database edited by hand can hold, is null, so that the file stays readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, assert_never

import msgspec

from crawler.core.pages.page_field import ValueType
from crawler.exports.file import Sink
from crawler.exports.rows import ExportColumn, ExportFilter, columns_of, rows
from crawler.models import Crawl

if TYPE_CHECKING:
    import pyarrow

GROUP = 5_000  # rows in memory at a time
INT64_LIMIT = 2**63

_as_json = msgspec.json.Encoder().encode


def pieces(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[bytes]:
    """One row a page. Times and dates are timestamps in UTC; JSON is text."""
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


def _table(group: Sequence[dict[str, Any]], columns: Sequence[ExportColumn], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow as arrow  # as above

    values = {column.name: _cells(column, (row[column.name] for row in group)) for column in columns}
    return arrow.table(values, schema=schema)


def _type(column: ExportColumn) -> pyarrow.DataType:
    import pyarrow as arrow  # as above

    value_type = _type_of(column.type)
    return arrow.list_(value_type) if column.many else value_type


def _type_of(value_type: ValueType) -> pyarrow.DataType:
    import pyarrow as arrow  # as above

    match value_type:
        case ValueType.TEXT | ValueType.URL | ValueType.JSON:
            return arrow.string()
        case ValueType.INTEGER:
            return arrow.int64()
        case ValueType.FLOAT:
            return arrow.float64()
        case ValueType.BOOLEAN:
            return arrow.bool_()
        case ValueType.DATETIME:
            return arrow.timestamp("ms", tz="UTC")
        case ValueType.DATE:
            return arrow.timestamp("us", tz="UTC")  # a written date can have them
    assert_never(value_type)


def _cells(column: ExportColumn, values: Iterable[Any]) -> list[Any]:
    read = _READERS[column.type]
    if column.many:
        return [[read(one) for one in value] if isinstance(value, list) else None for value in values]
    return [None if value is None else read(value) for value in values]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < INT64_LIMIT else None


def _float(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _datetime(value: Any) -> datetime | None:
    """A day is its beginning; a time without a zone is in UTC."""
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):  # the last: at the very beginning or end of the calendar
        return None


def _json(value: Any) -> str:
    return value if isinstance(value, str) else _as_json(value).decode()


_READERS: dict[ValueType, Callable[[Any], Any]] = {
    ValueType.TEXT: _text,
    ValueType.URL: _text,
    ValueType.INTEGER: _integer,
    ValueType.FLOAT: _float,
    ValueType.BOOLEAN: _boolean,
    ValueType.DATETIME: _datetime,
    ValueType.DATE: _datetime,
    ValueType.JSON: _json,
}
