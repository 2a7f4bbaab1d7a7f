"""Kept content as files: an archive that other tools read, and a ZIP."""

import csv
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from crawler.core.errors import BadInput
from crawler.core.pages.content_formats import FORMS
from crawler.core.text.sanitize import file_name
from crawler.exports import content_zip
from crawler.exports.formats import FORMATS
from crawler.models import Crawl, PageFacts
from crawler.storage.content import warc
from crawler.storage.content.objects import packed
from crawler.storage.content.shelf import Shelf, named
from tests.content_storages import kept_in
from tests.factories import make_crawl, make_page

PATHS = ("/", "/docs/intro.html", "/docs/", "/a/../../b?c=../x", "/missing")


@pytest.fixture
def crawl(db: None, tmp_path: Path, settings: Any) -> Crawl:
    """Four pages whose content is kept by two batches, out of order, with some that nobody refers to; and one that is
    not kept."""
    kept_in(tmp_path / "kept", settings)
    crawl = make_crawl(options={"keep": FORMS})
    pages = [make_page(crawl, f"http://site.test{path}", status=1, outcome="2xx") for path in PATHS]
    for batch, (first, second) in enumerate([(3, 0), (2, 1)]):
        shelf = Shelf(str(crawl.id), f"batch-{batch}")
        places = {number: shelf.put(contents(pages[number].url)) for number in (first, 4, second)}
        names = shelf.clear()
        for number in (first, second):
            PageFacts.objects.create(page_id=pages[number].id, crawl=crawl, kept=named(places[number], names))
    return crawl


def contents(url: str) -> dict[str, bytes | str]:
    records = warc.exchange(url, 1.0, ("GET / HTTP/1.1", []), ("HTTP/1.1 200 OK", []), url.encode())
    return {"warc": records, **{form: packed(f"{form} of {url}".encode()) for form in FORMS if form != "warc"}}


def exported(crawl: Crawl, export_format: str) -> bytes:
    return b"".join(piece for piece in FORMATS[export_format](crawl) if isinstance(piece, bytes))


def test_an_archive_has_the_pages_in_order_and_nothing_else(crawl: Crawl) -> None:
    records = [
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(exported(crawl, "warc.gz")))
    ]
    assert records[0][0] == "warcinfo"
    assert f"isPartOf: {crawl.id}".encode() in records[0][2]
    urls = [f"http://site.test{path}" for path in PATHS[:4]]
    assert [(kind, url) for kind, url, _ in records[1:]] == [
        (kind, url) for url in urls for kind in ("response", "request")
    ]
    assert [content for kind, _, content in records if kind == "response"] == [url.encode() for url in urls]


def test_the_archive_and_each_object_pass_warcios_own_check(crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "all.warc.gz").write_bytes(exported(crawl, "warc.gz"))
    files = [str(file) for file in tmp_path.rglob("*.warc.gz")]
    assert len(files) == 3
    checker = Checker(type("Options", (), {"inputs": files, "verbose": False})())
    checker.process_all()
    assert checker.exit_value == 0


def test_a_zip_has_a_file_a_page_and_a_table_of_them(crawl: Crawl) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(crawl, "markdown.zip"))) as archive:
        assert archive.testzip() is None
        rows = list(csv.DictReader(io.StringIO(archive.read("index.csv").decode())))
        assert [row["url"] for row in rows] == [f"http://site.test{path}" for path in PATHS[:4]]
        assert [archive.read(row["file"]).decode() for row in rows] == [f"markdown of {row['url']}" for row in rows]
        assert archive.namelist() == [*(row["file"] for row in rows), "index.csv"]


@pytest.mark.parametrize(
    ("form", "chosen", "ending"),
    [("pdf", "webp", "pdf"), ("screenshot", "webp", "webp"), ("screenshot", "jpeg", "jpg")],
)
def test_a_zip_of_pictures_has_names_of_their_format_and_packs_them_no_further(
    crawl: Crawl, form: str, chosen: str, ending: str
) -> None:
    crawl.options = {"keep": FORMS, "screenshot_format": chosen}
    with zipfile.ZipFile(io.BytesIO(exported(crawl, f"{form}.zip"))) as archive:
        files = [member for member in archive.infolist() if member.filename != "index.csv"]
        assert [member.filename.rpartition(".")[2] for member in files] == [ending] * 4
        assert [archive.read(member).decode() for member in files] == [
            f"{form} of http://site.test{p}" for p in PATHS[:4]
        ]
        assert {member.compress_type for member in files} == {zipfile.ZIP_STORED}


def test_what_is_gone_is_left_out(crawl: Crawl, tmp_path: Path) -> None:
    for file in (tmp_path / "kept").rglob("batch-0-*.html.gz"):
        file.unlink()
    with zipfile.ZipFile(io.BytesIO(exported(crawl, "html.zip"))) as archive:
        assert len(archive.namelist()) == 3


def test_a_zip_that_would_grow_too_large_is_refused_before_anything_is_written(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_zip, "MAX_FILES", 3)
    with pytest.raises(BadInput, match="A ZIP can contain"):
        FORMATS["html.zip"](crawl)


@pytest.mark.django_db
def test_a_crawl_that_kept_nothing_says_how_to_keep_it() -> None:
    with pytest.raises(BadInput, match="--keep text"):
        FORMATS["text.zip"](make_crawl())


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.test/", "a.test/index-7.md"),
        ("https://a.test:8080/docs/intro.html?x=1", "a.test_8080/docs/intro-7.md"),
        ("https://a.test/docs/", "a.test/docs/index-7.md"),
        ("https://a.test/../..%2F/etc/passwd", "a.test/2F/etc/passwd-7.md"),
        ("https://a.test/.hidden/con", "a.test/hidden/con-7.md"),
        ("https://a.test/" + "x" * 300, f"a.test/{'x' * 60}-7.md"),
    ],
)
def test_the_name_of_a_file_says_which_page_it_is_and_leads_nowhere_else(url: str, name: str) -> None:
    assert file_name(url, 7, "md") == name
