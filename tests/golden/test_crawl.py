"""A crawl of a small site gives the same exports, receipt and JSON as ever."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

import pyarrow.parquet
import pytest
import redis
from django.contrib.auth.models import User
from openpyxl import load_workbook
from syrupy.assertion import SnapshotAssertion

from crawler.core.access.permissions import Scope
from crawler.core.crawl.messages import PAGE
from crawler.exports.formats import FORMATS
from crawler.models import Crawl, Page
from tests.api.calling import Caller, a_token
from tests.golden.masking import masked, masked_row
from tests.golden.site import RULES, pages
from tests.site import Site
from tests.stack import OWN_WORKER, Stack


@dataclass(frozen=True)
class Crawled:
    stack: Stack
    id: UUID
    names: Mapping[str, str]  # see `masked`

    def written(self, key: str, **chosen: bool) -> bytes:
        made = FORMATS[key]
        if made.form:  # content lies in the folder of the stack
            file = self.stack.folder / f"export.{key}"
            self.stack.run("python", "manage.py", "export", str(self.id), "--format", key, "--output", str(file))
            return file.read_bytes()
        return self.stack.within(lambda: b"".join(_each(made(Crawl.objects.get(id=self.id), **chosen))))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Crawled]:
    redis.Redis.from_url(redis_url).flushall()
    stack = Stack(tmp_path_factory.mktemp("golden"), redis_url)
    try:
        stack.spawn(*OWN_WORKER)
        with Site({}).serving() as elsewhere, Site(pages(f"{elsewhere.url}/")).serving() as site:
            crawl = stack.start(
                f"{site.url}/",
                concurrency=1,
                sitemaps=True,
                externals="check",
                near_duplicates=True,
                fields=RULES,
                keep=("html", "text", "markdown", "warc"),
            )
            stack.wait_until_finished(crawl)
        names = {str(crawl): "CRAWL", site.host: "site.test", elsewhere.host: "elsewhere.test"}
        in_files = {word.replace(":", "_"): name for word, name in names.items()}
        yield Crawled(stack, crawl, {**names, **in_files})
    finally:
        stack.end()


@pytest.mark.parametrize("key", FORMATS)
def test_an_export(key: str, crawled: Crawled, golden: SnapshotAssertion) -> None:
    assert masked(_readable(key, crawled.written(key)), crawled.names) == golden


def test_the_links_to_other_sites(crawled: Crawled, golden: SnapshotAssertion) -> None:
    assert masked(_readable("csv", crawled.written("csv", externals=True)), crawled.names) == golden


def test_the_receipt(crawled: Crawled, golden: SnapshotAssertion) -> None:
    assert masked(json.dumps(crawled.stack.receipt(crawled.id), indent=1), crawled.names) == golden


def test_what_the_api_says(crawled: Crawled, golden: SnapshotAssertion) -> None:
    told = crawled.stack.within(lambda: dict(_answers(crawled.id)))
    assert masked(json.dumps(told, indent=1, ensure_ascii=False), crawled.names) == golden


def _answers(crawl: UUID) -> Iterator[tuple[str, object]]:
    someone = User.objects.create(username="someone", is_superuser=True, is_staff=True)
    caller = Caller(a_token(someone, *Scope))
    start = Page.objects.get(crawl=crawl, depth=0, kind=PAGE).id
    reports = [report["slug"] for report in caller.get(f"/crawls/{crawl}/reports").json()["items"]]
    places = [
        *(
            "",
            "/receipt",
            "/why",
            "/figures",
            "/pages?limit=100",
            "/dead-letters",
            "/orphans",
            "/reports",
            "/comparisons",
        ),
        *(f"/pages/{start}{part}" for part in ("", "/links-out", "/links-in", "/ways")),
        *(f"/reports/{slug}" for slug in reports),
        *("/reports", "/graph", "/traps", "/notices", "/exports"),
    ]
    for place in places:
        answer = caller.get(f"/crawls/{crawl}{place}")
        assert answer.status_code == 200, (place, answer.content)
        told = answer.json()
        told.pop("pace", None)  # how the crawl went second by second
        yield place, told


def _each(pieces: Iterator[str] | Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece.encode() if isinstance(piece, str) else piece


def _readable(key: str, content: bytes) -> str:
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
