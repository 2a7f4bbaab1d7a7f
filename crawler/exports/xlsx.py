"""The pages of a crawl as an Excel workbook: one sheet without formulas and links."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Unpack

from crawler.core.errors import BadInput
from crawler.core.pages.page_field import ValueType
from crawler.exports.csv import flat
from crawler.exports.rows import ExportColumn, ExportFilter, columns_of, rows, selected
from crawler.models import Crawl

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook

MAX_ROWS = 1_048_576  # of a sheet, the header among them; with the characters of a cell by Excel's specification:
MAX_CHARACTERS = 32_767  # https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3
PIECE_BYTES = 1 << 18

_PLAIN = {
    "constant_memory": True,  # a row is written to disk when the next one begins
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


def check(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    """BadInput when a sheet cannot hold the pages."""
    number = selected(crawl, **chosen).order_by().count()
    if number >= MAX_ROWS:
        raise BadInput(
            "format",
            f"An Excel sheet can contain {MAX_ROWS - 1:,} pages, and this crawl has {number:,}; choose csv, jsonl or "
            "parquet, which have no limit.",
        )


def pieces(crawl: Crawl, **chosen: Unpack[ExportFilter]) -> Iterator[bytes]:
    """The workbook is made on disk first, because a ZIP has the size of each part before it."""
    import xlsxwriter  # no other command should pay for it

    with TemporaryFile() as file:
        with xlsxwriter.Workbook(file, _PLAIN) as workbook:
            _fill(workbook, crawl, **chosen)
        file.seek(0)
        while piece := file.read(PIECE_BYTES):
            yield piece


def _fill(workbook: Workbook, crawl: Crawl, **chosen: Unpack[ExportFilter]) -> None:
    columns = columns_of(crawl)
    sheet = workbook.add_worksheet("Pages")
    bold, time = workbook.add_format({"bold": True}), workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    sheet.freeze_panes(1, 1)
    sheet.set_column(0, 0, 60)
    sheet.set_column(1, len(columns) - 1, 16)
    sheet.write_row(0, 0, [flat(column.name) for column in columns], bold)
    for number, row in enumerate(islice(rows(crawl, **chosen), MAX_ROWS - 1), start=1):  # it may grow meanwhile
        for place, column in enumerate(columns):
            value = _cell(column, row[column.name])
            if value is not None and value != "":
                sheet.write(number, place, value, time if column.type is ValueType.DATETIME else None)


def _cell(column: ExportColumn, value: Any) -> Any:
    """The value as a cell can hold it; a time without its zone, which is UTC."""
    if column.type is ValueType.DATETIME:
        return datetime.fromisoformat(value).replace(tzinfo=None) if value else None
    cell = flat(value)
    return cell[:MAX_CHARACTERS] if isinstance(cell, str) else cell
