"""A crawl by real workers, and its exports as text."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

import pyarrow.parquet
from openpyxl import load_workbook

from crawler.exports.formats import FORMATS
from crawler.models import Crawl
from tests.golden.masking import masked_row
from tests.stack import Stack


@dataclass(frozen=True)
class Crawled:
    stack: Stack
    id: UUID
    names: Mapping[str, str]  # see `masked`

    def written(self, key: str, **chosen: bool) -> bytes:
        made = FORMATS[key]
        if made.form:  # content lies in the folder of the stack
            file = self.stack.folder / f"export.{key}"
            self.stack.command("export", str(self.id), "--format", key, "--output", str(file))
            return file.read_bytes()
        return self.stack.within(lambda: b"".join(_each(made(Crawl.objects.get(id=self.id), **chosen))))


def _each(pieces: Iterator[str] | Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece.encode() if isinstance(piece, str) else piece


def readable(key: str, content: bytes) -> str:
    """As text, one row a line."""
    match key:
        case "csv":
            table = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
            return "\n".join([",".join(table.fieldnames or ()), *map(_row, table)])
        case "jsonl":
            return "\n".join(_row(json.loads(line)) for line in content.splitlines())
        case "xlsx":
            head, *rows = load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True)
            return "\n".join([",".join(head), *(_row(dict(zip(head, row, strict=True))) for row in rows)])
        case "parquet":
            typed = pyarrow.parquet.read_table(io.BytesIO(content))
            return "\n".join([str(typed.schema), *map(_row, typed.to_pylist())])
        case "warc.gz":
            return gzip.decompress(content).decode("latin-1")
        case "html.zip" | "text.zip" | "markdown.zip" | "sitemap.zip":
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return "\n".join(f"--- {name}\n{_unpacked(archive.read(name))}" for name in archive.namelist())
        case _:
            return content.decode("utf-8-sig")


def _row(row: Mapping[str, object]) -> str:
    return json.dumps(masked_row(row), ensure_ascii=False)


def _unpacked(content: bytes) -> str:
    return (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode()
