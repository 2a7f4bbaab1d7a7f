"""The pages of a crawl as Apache Parquet: typed columns, compressed, written a group of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, assert_never

import msgspec

from crawler.exports.columns import Column, Kind, columns_of
from crawler.exports.rows import rows
from crawler.exports.selection import Chosen
from crawler.exports.sink import Sink
from crawler.models import Crawl

if TYPE_CHECKING:
    import pyarrow

GROUP = 5_000  # rows; what is in memory at a time

_as_json = msgspec.json.Encoder().encode


def pieces(crawl: Crawl, **chosen: Unpack[Chosen]) -> Iterator[bytes]:
    """One row a page. Times are timestamps in UTC; the values of an extracted field are text, those that are none as
    JSON."""
    import pyarrow as arrow  # half a second and 60 MB, which no other command should pay for
    from pyarrow import parquet

    columns = columns_of(crawl)
    schema = arrow.schema([(column.name, _type(column.kind)) for column in columns])
    sink = Sink()
    found = rows(crawl, **chosen)
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        while group := list(islice(found, GROUP)):
            writer.write_table(_table(group, columns, schema))
            yield sink.taken()
    yield sink.taken()


def _table(group: Sequence[dict[str, Any]], columns: Sequence[Column], schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow as arrow  # as above

    values = {column.name: [_value(column.kind, row[column.name]) for row in group] for column in columns}
    return arrow.table(values, schema=schema)


def _type(kind: Kind) -> pyarrow.DataType:
    import pyarrow as arrow  # as above

    match kind:
        case Kind.TEXT | Kind.ANY:
            return arrow.string()
        case Kind.NUMBER:
            return arrow.int64()
        case Kind.TRUTH:
            return arrow.bool_()
        case Kind.MOMENT:
            return arrow.timestamp("ms", tz="UTC")
    assert_never(kind)


def _value(kind: Kind, value: Any) -> Any:
    if value is None:
        return None
    match kind:
        case Kind.MOMENT:
            return datetime.fromisoformat(value)
        case Kind.ANY:
            return value if isinstance(value, str) else _as_json(value).decode()
        case _:
            return value
