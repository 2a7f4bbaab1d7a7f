"""WARC records, read by warcio's own reader and checker."""

import io
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from crawler.storage.content import warc

REQUEST = ("GET /a?b=1 HTTP/1.1", [("Host", "example.com"), ("User-Agent", "Tester/1")])
BODY = "<p>Grüße".encode()


def written(status: str = "HTTP/1.1 200 Very well", body: bytes = BODY, **headers: str) -> bytes:
    given = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return warc.exchange("https://example.com/a?b=1", 1_800_000_000.25, REQUEST, (status, given), body)


def read(data: bytes) -> list[tuple[str, dict[str, str], str, dict[str, str], bytes]]:
    """Of each record: type, headers, first HTTP line, HTTP headers, content as a browser would see it."""
    return [
        (
            record.rec_type,
            dict(record.rec_headers.headers),
            f"{record.http_headers.protocol} {record.http_headers.statusline}",
            dict(record.http_headers.headers),
            record.content_stream().read(),
        )
        for record in ArchiveIterator(io.BytesIO(data))
    ]


def test_a_response_and_its_request_are_told_apart_and_know_each_other() -> None:
    response, request = read(written(Content_Type="text/html"))
    assert (response[0], response[2], response[4]) == ("response", "HTTP/1.1 200 Very well", BODY)
    assert (request[0], request[2], request[3]) == ("request", "GET /a?b=1 HTTP/1.1", dict(REQUEST[1]))
    assert request[1]["WARC-Concurrent-To"] == response[1]["WARC-Record-ID"]
    assert response[1]["WARC-Target-URI"] == request[1]["WARC-Target-URI"] == "https://example.com/a?b=1"
    assert response[1]["WARC-Date"] == "2027-01-15T08:00:00.250000Z"


def test_a_body_that_was_packed_for_the_way_is_kept_unpacked() -> None:
    (_, _, _, headers, content), _ = read(
        written(Content_Encoding="zstd", Transfer_Encoding="chunked", Content_Length="5", Content_Type="text/html")
    )
    assert content == BODY
    assert headers == {
        "X-Archive-Orig-Content-Encoding": "zstd",
        "X-Archive-Orig-Transfer-Encoding": "chunked",
        "X-Archive-Orig-Content-Length": "5",
        "Content-Type": "text/html",
        "Content-Length": str(len(BODY)),
    }


def test_an_answer_without_a_body_is_kept() -> None:
    (_, _, line, headers, content), _ = read(written("HTTP/1.1 301 Moved", b"", Location="/b"))
    assert (line, headers["Location"], content) == ("HTTP/1.1 301 Moved", "/b", b"")


def test_records_behind_each_other_pass_warcios_own_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(warc.info("a.warc.gz", {"software": "Tester/1"}) + written(X="ü") + written(body=b""))
    checker = Checker(type("Options", (), {"inputs": [str(file)], "verbose": True})())
    checker.process_all()
    assert checker.exit_value == 0, capsys.readouterr().out
    assert capsys.readouterr().out.count("digest pass") == 5


def test_a_status_line_in_another_alphabet_is_kept_in_ours() -> None:
    assert read(written("HTTP/1.1 404 Nicht gefünden\x8b"))[0][2] == "HTTP/1.1 404 Nicht gef%C3%BCnden%C2%8B"


def test_what_was_sent_is_in_the_record_of_the_request() -> None:
    post = ("POST /a HTTP/1.1", [("Content-Type", "text/plain")])
    data = warc.exchange("https://example.com/a", 1.0, post, ("HTTP/1.1 200 OK", []), b"answer", sent=b"question")
    response, request = read(data)
    assert (response[4], request[2], request[4]) == (b"answer", "POST /a HTTP/1.1", b"question")


def test_a_body_that_was_not_read_is_said_to_be_cut() -> None:
    data = warc.exchange("https://example.com/", 1.0, REQUEST, ("HTTP/1.1 404 Not Found", []), b"", is_cut=True)
    response, request = read(data)
    assert response[1]["WARC-Truncated"] == "unspecified"
    assert "WARC-Truncated" not in request[1]
    assert "WARC-Truncated" not in read(written())[0][1]
