"""What programs read: every answer of the API and every file is of the kind it says it is, and a text in it stays one
value, whatever it holds."""

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pyarrow.parquet
import pytest
from django.contrib.auth.models import User
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from warcio.archiveiterator import ArchiveIterator

from crawler.api.v1 import api
from crawler.core.access.permissions import Scope
from crawler.core.pages.content_formats import FORMS
from crawler.exports.formats import FORMATS
from crawler.models import Channel, Crawl, Delivery, Page, Schedule
from tests.api.calling import Caller, a_token
from tests.evil import MARK
from tests.shown.looking import csv_faults
from tests.shown.test_pages import DATA, PATTERNS, filled, places_of

SAFE = {"application/json", "application/jsonl", "application/problem+json", "text/event-stream", "text/plain"}
SAFE |= {"text/csv", "application/octet-stream", "application/warc"}
"""Kinds that no browser draws."""
PICTURES = {"image/webp": b"RIFF", "application/pdf": b"%PDF-"}
"""Kinds whose content Chromium made, and the first bytes of each: no browser finds markup in them."""
SAFE |= PICTURES.keys()


def operations() -> Iterator[str]:
    """What can be read over the API."""
    for path, methods in api.get_openapi_schema(path_prefix="")["paths"].items():
        if "get" in methods:
            yield path


def test_the_api_answers_with_data_and_nothing_else(root: User, crawl: Crawl, other: Crawl) -> None:
    by_root = Caller(a_token(root, *Scope))
    pages = Page.objects.filter(crawl=crawl).order_by("pk")
    places: dict[str, Any] = {
        "crawl_id": crawl.pk,
        "other_id": other.pk,
        "page_id": pages[0].pk,
        "schedule_id": Schedule.objects.all()[0].pk,
        "delivery_id": Delivery.objects.all()[0].pk,
        "channel_id": Channel.objects.all()[0].pk,
        "export_format": "jsonl",
        "slug": "duplicate-titles",
        "change": "new",
        "form": "text",
    }
    shown = set[str]()
    for path in operations():
        for given in ({}, {"export_format": "csv"}, *({"form": form} for form in FORMS)):
            if not all(f"{{{name}}}" in path for name in given):
                continue
            response = by_root.get(path.format(**places | given) + ("?key=2xx-200" if path.endswith("lines") else ""))
            body = response.getvalue()
            kind = response["Content-Type"].partition(";")[0]
            assert kind in SAFE, path
            assert "sandbox" in response["Content-Security-Policy"]
            judge(kind, body)
            shown |= {path} if MARK.encode() in body else set()
    assert len(shown) > 20, shown


KINDS = ("csv", "jsonl")


def test_what_the_pages_ask_for_is_data(as_root: Client, crawl: Crawl, other: Crawl) -> None:
    judged, marked = set[str](), set[str]()
    for pattern in PATTERNS:
        name = str(pattern.name)
        if name not in DATA | {"page-content"}:
            continue
        places = places_of(name, crawl, other)
        as_csv, as_jsonl = (list(filled(str(pattern.pattern), places | {"export_format": [kind]})) for kind in KINDS)
        for address in [*as_csv, *as_jsonl[:1]]:
            response = as_root.get(address)
            body, kind = response.getvalue(), response["Content-Type"].partition(";")[0]
            if response.status_code == 200:
                assert kind in SAFE, address
                judge(kind, body)
                judged |= {name}
                marked |= {name} if MARK.encode() in body else set()
    assert judged == DATA | {"page-content"}
    assert marked == judged - WITHOUT_TEXTS


WITHOUT_TEXTS = {"readyz"}
"""What holds nothing that a stranger wrote."""


def judge(kind: str, body: bytes) -> None:
    """Fails unless it is what it says, to every reader of such."""
    text = body.decode() if kind.startswith("text/") or "json" in kind else ""
    match kind:
        case "application/json" | "application/problem+json":
            for href in hrefs(json.loads(text)):
                assert href == "" or href.startswith(("http://", "https://")), href
        case "application/jsonl":
            for line in text.splitlines():
                assert isinstance(json.loads(line), dict)
        case "image/webp" | "application/pdf":
            assert body.startswith(PICTURES[kind])
        case "text/csv":
            assert csv_faults(text) == []
            header, *records = csv.reader(io.StringIO(text, newline=""))
            assert {len(record) for record in records} <= {len(header)}
        case "text/event-stream":
            lines = re.split(r"\r\n|\r|\n", text)
            assert [line for line in lines if not line.startswith(("event: ", "data: ", "id: ", "retry: ", ":"))] == [
                "" for line in lines if not line
            ]
            assert lines.count("event: finished") == 1


def hrefs(value: Any) -> Iterator[str]:
    """What the scripts of our pages make links of."""
    if isinstance(value, dict):
        yield from (str(value["href"]) for _ in [0] if "href" in value)
        yield from (href for each in value.values() for href in hrefs(each))
    if isinstance(value, list):
        yield from (href for each in value for href in hrefs(each))


@pytest.fixture
def files(as_root: Client, crawl: Crawl) -> dict[str, bytes]:
    """Every export as the web gives it."""
    return {key: downloaded(as_root, crawl, key) for key in FORMATS}


def downloaded(browser: Client, crawl: Crawl, key: str) -> bytes:
    response = browser.get(f"/crawls/{crawl.pk}/export.{key}")
    assert response.status_code == 200, key
    name = rf'attachment; filename="[a-z]+-{crawl.pk}\.[a-z.]+"'
    assert re.fullmatch(name, response["Content-Disposition"])
    assert response["X-Content-Type-Options"] == "nosniff"
    return response.getvalue()


def test_every_export_stays_in_its_form(files: dict[str, bytes], crawl: Crawl) -> None:
    assert files.keys() == READERS.keys()
    pages = Page.objects.filter(crawl=crawl).exclude(kind="sitemap").count()
    for key, reader in READERS.items():
        reader(files[key], pages)


def _csv(file: bytes, pages: int) -> None:
    judge("text/csv", file)
    assert len(list(csv.reader(io.StringIO(file.decode(), newline="")))) == pages + 1


def _links(file: bytes, pages: int) -> None:
    judge("text/csv", file)


def _jsonl(file: bytes, pages: int) -> None:
    judge("application/jsonl", file)
    assert len(file.decode().splitlines()) == pages


def _xlsx(file: bytes, pages: int) -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(file)).active
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert len(cells) > pages * 20
    assert [cell.value for cell in cells if cell.data_type == "f" or cell.hyperlink] == []
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        assert not [name for name in archive.namelist() if "vba" in name.lower() or "external" in name.lower()]


def _parquet(file: bytes, pages: int) -> None:
    assert pyarrow.parquet.read_table(io.BytesIO(file)).num_rows == pages


def _graphml(file: bytes, pages: int) -> None:
    tree = ElementTree.fromstring(file)  # noqa: S314 (our own)
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert tags <= {"graphml", "key", "graph", "node", "edge", "data"}
    assert not [node for node in tree.iter() if node.get("id") == "evil"]


def _sitemap(file: bytes, pages: int) -> None:
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(file).iter()}  # noqa: S314 (the same)
    assert tags <= {"urlset", "sitemapindex", "sitemap", "url", "loc", "lastmod"}


def _sitemaps(file: bytes, pages: int) -> None:
    for name, content in members(file):
        _sitemap(gzip.decompress(content) if name.endswith(".gz") else content, pages)


def members(file: bytes) -> Iterator[tuple[str, bytes]]:
    """The files of a ZIP, none of which leads out of where it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        for name in archive.namelist():
            assert re.fullmatch(r"[A-Za-z0-9._~/-]+", name), name
            assert not PurePosixPath(name).is_absolute()
            assert ".." not in PurePosixPath(name).parts
            yield name, archive.read(name)


def _contents(file: bytes, pages: int) -> None:
    found = dict(members(file))
    assert len(found) == 2
    judge("text/csv", found["index.csv"])


def _warc(file: bytes, pages: int) -> None:
    records = list(ArchiveIterator(io.BytesIO(file)))
    assert [record.rec_type for record in records] == ["warcinfo", "response", "request"]


READERS = {
    "csv": _csv,
    "xlsx": _xlsx,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "warc.gz": _warc,
    "html.zip": _contents,
    "text.zip": _contents,
    "markdown.zip": _contents,
    "screenshot.zip": _contents,
    "pdf.zip": _contents,
    "links.csv": _links,
    "graphml": _graphml,
    "sitemap.xml": _sitemap,
    "sitemap.zip": _sitemaps,
}
"""Each export, and who reads it."""


def test_no_text_makes_a_figure_for_prometheus(as_root: Client, crawl: Crawl) -> None:
    Crawl.objects.filter(pk=crawl.pk).update(outcomes={f'{MARK}"}} 1\nforged{{x="\\': 5, **crawl.outcomes})
    told = as_root.get("/metrics").getvalue().decode()
    families = list(text_string_to_metric_families(told))
    assert {family.name.partition("_")[0] for family in families} == {"crawler"}
    assert any(MARK in str(sample.labels) for family in families for sample in family.samples)
