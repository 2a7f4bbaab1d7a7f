"""What is recorded of a page's requests for a WARC. `test_replay` shows such an archive."""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.recordloader import ArcWarcRecord

from crawler.capabilities.browser import recorder
from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.rules import UNSEEN_KINDS
from crawler.capabilities.content.page_steps import ContentStep
from crawler.core.pages.content_formats import WARC
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult, PageTask
from crawler.fetcher.page_step import Visit
from crawler.http.warc_record import NOT_KEPT, ExchangeHeads, RecordedExchange
from tests.capabilities.browser.pages import Pages, fetched
from tests.http.server import Server, page

DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301"
    "0100c9fe92ef0000000049454e44ae426082"
)
SCRIPT = """
fetch('/data', {method: 'POST', body: 'question'}).then((r) => r.text()).then((text) => {
  document.querySelector('h1').textContent = text;
  document.body.insertAdjacentHTML('beforeend', '<p id=done>');
})"""
DOCUMENT = """<!doctype html><link rel=stylesheet href=/style.css><h1>Before</h1><img src=/to-dot.png>
<script src=/gone.js></script><script src=/app.js></script>"""
ARCHIVED = {"wait_for": "#done", "seconds": 20.0, "records": True, "blocked_kinds": UNSEEN_KINDS}


@pytest.fixture
def server() -> Iterator[Server]:
    packed = gzip.compress(b"h1 { color: rgb(1, 2, 3) }")
    site = {
        "/style.css": page(packed, content_type="text/css", content_encoding="gzip"),
        "/to-dot.png": page("", "302 Found", location="/dot.png"),
        "/dot.png": page(DOT, content_type="image/png"),
        "/gone.js": page("gone", "404 Not Found", content_type="text/plain"),
        "/app.js": page(SCRIPT, content_type="text/javascript"),
        "/data": page("After", content_type="text/plain", set_cookie="session=secret"),
    }
    with Server(site) as server:
        yield server


def archive(server: Server, rendering: Rendering) -> bytes:
    """The page's records, as a crawl keeps them."""
    own = ExchangeHeads("GET / HTTP/1.1", (("Host", "x"),), "HTTP/1.1 200 OK", (("Content-Type", "text/html"),))
    received = msgspec.structs.replace(fetched(DOCUMENT), recorded=own)
    result = PageResult(id=1, attempt=1, outcome=Outcome.SUCCESS, fetched_at=1_800_000_000.0)
    url = f"{server.origin}/"
    visit = Visit(PageTask(1, url, 1), result.fetched_at, 0, received, result=result, exchanges=rendering.recorded)
    ContentStep((WARC,)).finish(visit)
    assert visit.result is not None
    kept = visit.result.kept[WARC]
    assert isinstance(kept, bytes)
    return kept


def by_path(rendering: Rendering) -> dict[str, RecordedExchange]:
    return {"/" + recorded.url.split("/", 3)[3]: recorded for recorded in rendering.recorded}


def test_every_response_is_recorded_with_its_body(pages: Pages, server: Server, tmp_path: Path) -> None:
    rendering = pages.render(server, DOCUMENT, headers_for=lambda url: {"X-Key": "secret"}, **ARCHIVED)

    found = by_path(rendering)
    assert set(found) == {"/style.css", "/to-dot.png", "/dot.png", "/gone.js", "/app.js", "/data"}
    assert found["/style.css"].body == b"h1 { color: rgb(1, 2, 3) }"
    assert (found["/dot.png"].body, found["/to-dot.png"].body) == (DOT, b"")
    assert (found["/gone.js"].heads.status_line, found["/gone.js"].is_cut) == ("HTTP/1.1 404 Not Found", True)
    assert (found["/data"].heads.request, found["/data"].sent) == ("POST /data HTTP/1.1", b"question")
    sent = {name.lower(): value for name, value in found["/app.js"].heads.request_headers}
    assert (sent["x-key"], sent["host"]) == (NOT_KEPT, server.origin.removeprefix("http://"))
    assert not [name for name in sent if name.startswith("proxy-")]
    assert rendering.error == ""

    file = tmp_path / "page.warc.gz"
    file.write_bytes(archive(server, rendering))
    checker = Checker(type("Options", (), {"inputs": [str(file)], "verbose": True})())
    checker.process_all()
    assert checker.exit_value == 0
    records = list(records_of(file.read_bytes()))
    assert [record.rec_type for record in records] == ["response", "request"] * 7
    style = next(record for record in records if record.rec_headers["WARC-Target-URI"].endswith("/style.css"))
    assert style.http_headers.get_header("Content-Encoding") is None
    assert style.http_headers.get_header("X-Archive-Orig-Content-Encoding") == "gzip"
    assert b"secret" not in b"".join(gzip.decompress(file.read_bytes()).split(b"session=secret"))


def records_of(data: bytes) -> Iterator[ArcWarcRecord]:
    for record in ArchiveIterator(io.BytesIO(data)):
        record.content = record.content_stream().read()
        yield record


@pytest.mark.long
def test_what_is_left_out_is_said(pages: Pages, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "MAX_BYTES", 300)
    monkeypatch.setattr(recorder, "MAX_EXCHANGES", 5)
    rendering = pages.render(server, DOCUMENT, **ARCHIVED)
    assert sum(len(recorded.body) for recorded in rendering.recorded) <= 300
    assert "not in the WARC: 1 of the responses to its requests, beyond 300 bytes in total" in rendering.error
    assert "not in the WARC: 1 of the responses to its requests, more than 5" in rendering.error


@pytest.mark.long
def test_the_proxys_own_responses_are_not_those_of_a_site(pages: Pages, server: Server) -> None:
    document = "<script src=http://10.1.1.1/a.js></script><script src=http://127.0.0.1:1/b.js></script><p id=done>"
    assert pages.render(server, document, **ARCHIVED).recorded == ()
