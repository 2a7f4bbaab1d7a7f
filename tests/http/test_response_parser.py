"""The response parser, with bytes split and damaged anywhere."""

import time
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.core.pages.outcomes import Outcome
from crawler.http.errors import FetchError
from crawler.http.response_parser import MAX_HEADERS, ResponseParser
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

OK = b"HTTP/1.1 200 OK\r\n"
THREE = b"Content-Length: 3\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
LIMIT = 2000  # bytes of a head


@dataclass(frozen=True)
class Read:
    """What came of a response."""

    status: int = 0
    fields: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""
    trouble: Outcome | None = None
    error: str = ""
    reusable: bool = False  # the connection


def read(data: bytes, *cuts: int, closes: bool = True, bodiless: bool = False) -> Read:
    """What is made of these bytes, cut in pieces at these places."""
    reading = ResponseParser(LIMIT, bodiless=bodiless)
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    rest = [data[start:end] for start, end in pairwise(places)]
    body = b""
    try:
        while not (reading.is_complete or reading.broken) and (rest or closes):
            if rest:
                reading.feed(rest.pop(0))
            else:
                reading.end()
            body += b"".join(reading.pieces)
            reading.pieces.clear()
    except FetchError as error:  # then there was no head
        return Read(trouble=error.outcome, error=str(error))
    trouble = reading.broken
    told = (trouble.outcome, str(trouble)) if trouble else (None, "")
    return Read(reading.status, tuple(reading.fields), body, *told, reading.is_reusable() and not rest)


RECORDED = {
    "length": OK + b"Content-Type: text/html\r\n" + THREE + b"\r\n<p>",
    "until close": OK + b"\r\n<p>",
    "empty": OK + b"Content-Length: 0\r\n\r\n",
    "chunks": OK + CHUNKED + b"\r\n3\r\n<p>\r\n2\r\nab\r\n0\r\n\r\n",
    "extensions": OK + CHUNKED + b'\r\n3;a="b;c"\r\n<p>\r\n0;last\r\n\r\n',
    "trailers": OK + CHUNKED + b"\r\n3\r\n<p>\r\n0\r\nExpires: never\r\nETag: x\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n",
    "old": b"HTTP/1.0 200 OK\r\n\r\n<p>",
    "old and kept": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + THREE + b"\r\n<p>",
    "closing": OK + b"Connection: close\r\n" + THREE + b"\r\n<p>",
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3 + OK + THREE + b"\r\n<p>",
    "interim that closes": b"HTTP/1.0 103 x\r\nConnection: close\r\n\r\n" + OK + THREE + b"\r\n<p>",
    "switching": b"HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    "bare line ends": b"HTTP/1.1 200 OK\nContent-Type: text/html\n" + b"Content-Length: 3\n\n<p>",
    "line ends before": b"\r\n\r\n" + OK + THREE + b"\r\n<p>",
    "folded": OK + b"X: a\r\n  b\r\n\tc\r\n" + THREE + b"\r\n<p>",
    "folded first": OK + b" a: b\r\n" + THREE + b"\r\n<p>",
    "no colon": OK + b"no colon\r\n: nameless\r\nN\xc3\xa4me: x\r\nX : y\r\n" + THREE + b"\r\n<p>",
    "controls": OK + b"X: a\x00b\x01c\rd\r\n" + THREE + b"\r\n<p>",
    "two lengths": OK + THREE + THREE + b"\r\n<p>",
    "a list of lengths": OK + b"Content-Length: 3, 3\r\n\r\n<p>",
    "lengths at odds": OK + THREE + b"Content-Length: 4\r\n\r\n<p>",
    "no number": OK + b"Content-Length: abc\r\n\r\n<p>",
    "empty length": OK + b"Content-Length: \r\n\r\n<p>",
    "endless length": OK + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n<p>",
    "garbled length": OK + b"Content-Length : 3\r\n\r\n<p>",
    "length and chunks": OK + THREE + CHUNKED + b"\r\n5\r\n<p>ab\r\n0\r\n\r\n",
    "chunks and length": OK + CHUNKED + THREE + b"\r\n5\r\n<p>ab\r\n0\r\n\r\n",
    "identity and length": OK + b"Transfer-Encoding: identity\r\n" + THREE + b"\r\n<p>",
    "lower case": b"http/1.1 200 ok\r\n" + THREE + b"\r\n<p>",
    "blanks": b"HTTP/1.1   200   OK\r\n" + THREE + b"\r\n<p>",
    "a later version": b"HTTP/1.2 200 OK\r\n" + THREE + b"\r\n<p>",
    "another version": b"HTTP/2.0 200 OK\r\n" + THREE + b"\r\n<p>",
    "radio": b"ICY 200 OK\r\n\r\n<p>",
    "no status": b"HTTP/1.1\r\n\r\n",
    "four digits": b"HTTP/1.1 2000 OK\r\n\r\n",
    "small status": b"HTTP/1.1 099 OK\r\n\r\n",
    "only a body": b"<!doctype html><p>hello\r\n\r\n<p>x",
    "mended behind a hint": b"HTTP/1.1 103 x\r\nX: a\r\n b\r\n\r\n" + OK + b"no colon\r\n" + THREE + b"\r\n<p>",
    "cut in the head": OK + b"Location: /a",
    "cut in the body": OK + THREE + b"\r\n<p",
    "cut in a chunk": OK + CHUNKED + b"\r\n9\r\n<p>",
    "cut before a chunk": OK + CHUNKED + b"\r\n9\r\n",
    "cut before the last chunk": OK + CHUNKED + b"\r\n3\r\n<p>\r\n",
    "cut in the trailers": OK + CHUNKED + b"\r\n3\r\n<p>\r\n0\r\nX: y",
    "odd trailers": OK + CHUNKED + b"\r\n3\r\n<p>\r\n0\r\nno colon\r\n\r\n",
    "no chunks": OK + CHUNKED + b"\r\n<p>",
    "damaged behind a chunk": OK + CHUNKED + b"\r\n3\r\n<p>xx0\r\n\r\n",
    "too many headers": OK + b"X: y\r\n" * (MAX_HEADERS + 1) + b"\r\n",
    "too large a header": OK + b"X: " + b"y" * LIMIT + b"\r\n" + THREE + b"\r\n<p>",
}


@pytest.mark.parametrize("data", RECORDED.values(), ids=RECORDED.keys())
def test_it_does_not_matter_where_a_response_is_cut(data: bytes) -> None:
    for bodiless in (False, True):
        whole = read(data, bodiless=bodiless)
        assert read(data, *range(len(data)), bodiless=bodiless) == whole
        for cut in range(1, len(data)):
            assert read(data, cut, bodiless=bodiless) == whole


@pytest.mark.parametrize(
    ("name", "body"),
    [
        *((name, b"<p>") for name in ("length", "until close", "extensions", "trailers", "old", "old and kept")),
        *((name, b"<p>") for name in ("closing", "interim", "interim that closes", "bare line ends")),
        *((name, b"<p>") for name in ("line ends before", "folded", "folded first", "no colon", "controls")),
        *((name, b"<p>") for name in ("two lengths", "a list of lengths", "no number", "empty length")),
        *((name, b"<p>") for name in ("identity and length", "lower case", "blanks", "a later version")),
        *((name, b"<p>") for name in ("mended behind a hint", "cut in the trailers", "odd trailers")),
        *((name, b"<p>ab") for name in ("chunks", "length and chunks", "chunks and length")),
        *((name, b"") for name in ("empty", "no content", "not modified", "switching")),
    ],
)
def test_what_browsers_read_is_read(name: str, body: bytes) -> None:
    found = read(RECORDED[name])
    assert (found.trouble, found.body) == (None, body)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lengths at odds", "the Content-Length headers contradict each other"),
        ("endless length", "the headers cannot be read: Content-Length overflow"),
        ("garbled length", "the header that defines the length of the body is invalid"),
        ("another version", "not HTTP/1; it begins with 'HTTP/2.0 200 OK"),
        ("radio", "not HTTP/1; it begins with 'ICY 200 OK"),
        ("no status", "the status line is 'HTTP/1.1'"),
        ("four digits", "the status line is 'HTTP/1.1 2000 OK'"),
        ("small status", "99 is not a valid status"),
        ("only a body", "not HTTP/1; it begins with '<!doctype html><p>hello"),
        ("cut in the head", "the connection ended within the headers"),
        ("cut in the body", "the connection ended before the body did"),
        ("cut in a chunk", "the connection ended before the body did"),
        ("cut before a chunk", "the connection ended before the body did"),
        ("cut before the last chunk", "the connection ended before the body did"),
        ("no chunks", "the body cannot be read: Invalid character in chunk size"),
        ("damaged behind a chunk", "the body cannot be read: Expected LF after chunk data"),
    ],
)
def test_what_nobody_can_read_is_told(name: str, said: str) -> None:
    found = read(RECORDED[name])
    assert found.trouble is Outcome.MALFORMED
    assert said in found.error


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"X: a\r\n  b\r\n\tc\r\n", b"a b c"),
        (b"X: a\x00b\x01c\rd\r\n", b"a b c d"),
        (b"X:\r\n", b""),
        (b"X: caf\xc3\xa9 \xe9\r\n", b"caf\xc3\xa9 \xe9"),
        (b"no colon\r\nX: a:b\r\n", b"a:b"),
        (b"X: a\r\nx: b\r\n", b"a"),  # of several the first
    ],
)
def test_the_value_of_a_header(data: bytes, value: bytes) -> None:
    reading = ResponseParser(LIMIT)
    reading.feed(OK + data + THREE + b"\r\n<p>")
    assert reading.first[b"x"] == value


KEPT = ("length", "chunks", "extensions", "trailers", "empty", "no content", "not modified", "old and kept", "interim")
KEPT_MENDED = ("folded", "no colon", "two lengths", "identity and length", "lower case", "bare line ends")


def test_a_connection_is_kept_when_the_message_is_whole_and_only_then() -> None:
    known = (*KEPT, *KEPT_MENDED, "interim that closes", "line ends before", "folded first", "controls", "blanks")
    known = (*known, "a list of lengths", "a later version", "mended behind a hint")
    assert {name for name, data in RECORDED.items() if read(data, closes=False).reusable} == {*known}


@pytest.mark.parametrize("name", KEPT)
def test_a_connection_with_anything_behind_the_message_is_not_kept(name: str) -> None:
    alone = read(RECORDED[name])
    for behind in (b"x", b"H", OK, b"\x00", RECORDED["length"], b"\r\n\r\nHTTP"):
        followed = read(RECORDED[name] + behind)
        assert (followed.status, followed.fields, followed.body) == (alone.status, alone.fields, alone.body)
        assert not followed.reusable


@pytest.mark.parametrize("head", [THREE, CHUNKED, b"", b"Content-Length: 0\r\n"])
def test_the_answer_to_head_ends_with_its_head(head: bytes) -> None:
    found = read(OK + head + b"\r\n", closes=False, bodiless=True)
    assert (found.status, found.body, found.reusable) == (200, b"", True)
    assert not read(OK + head + b"\r\n<p>", closes=False, bodiless=True).reusable
    assert not read(OK + b"Connection: close\r\n" + head + b"\r\n", closes=False, bodiless=True).reusable


@pytest.mark.parametrize(("count", "trouble"), [(100, None), (200, Outcome.TOO_LARGE)])
def test_interim_responses_have_the_same_limit_as_headers(count: int, trouble: Outcome | None) -> None:
    reading = read(b"HTTP/1.1 100\r\n\r\n" * count + RECORDED["length"])
    assert (reading.trouble, reading.status) == (trouble, 0 if trouble else 200)


@pytest.mark.parametrize(("size", "trouble"), [(LIMIT, None), (LIMIT + 1, Outcome.TOO_LARGE)])
@pytest.mark.parametrize("odd", [b"", b"no colon\r\n"])
def test_the_limit_is_kept_to_the_byte(size: int, trouble: Outcome | None, odd: bytes) -> None:
    head = OK + odd + THREE
    head += b"X: " + b"y" * (size - len(head) - 7) + b"\r\n\r\n"
    assert len(head) == size
    assert read(head + b"<p>").trouble is trouble


@pytest.mark.parametrize("start", [b"3\r\n<p>\r\n0\r\n", b"3;", b"0\r\nX: "])
def test_what_stands_between_the_pieces_of_a_body_is_limited(start: bytes) -> None:
    reading = ResponseParser(LIMIT)
    reading.feed(OK + CHUNKED + b"\r\n" + start)
    for _ in range(LIMIT):
        reading.feed(b"x: y\r\n" if start.endswith(b"\r\n") else b"xxxxxx")
        reading.pieces.clear()
        if reading.broken:
            break
    assert reading.broken is not None
    assert reading.broken.outcome is Outcome.TOO_LARGE


@pytest.mark.parametrize(("count", "trouble"), [(MAX_HEADERS, None), (MAX_HEADERS + 1, Outcome.TOO_LARGE)])
@pytest.mark.parametrize("odd", [b"", b"no colon\r\n"])
def test_headers_are_counted(count: int, trouble: Outcome | None, odd: bytes) -> None:
    found = read(OK + odd + b"X: y\r\n" * (count - 1) + THREE + b"\r\n<p>")
    assert (found.trouble, found.body) == (trouble, b"" if trouble else b"<p>")


def fed_with_chunks(chunk: bytes, count: int) -> ResponseParser:
    """After so many of this chunk, each arriving by itself, or as many as were taken."""
    reading = ResponseParser(LIMIT)
    reading.feed(OK + CHUNKED + b"\r\n")
    for _ in range(count):
        reading.feed(chunk)
        reading.pieces.clear()
        if reading.broken:
            break
    return reading


def test_a_little_body_does_not_pay_for_much_framing() -> None:
    broken = fed_with_chunks(b"1;" + b"x" * 500 + b"\r\nx\r\n", 1 + LIMIT // 400).broken
    assert broken is not None
    assert broken.outcome is Outcome.TOO_LARGE


def test_a_large_body_saves_up_for_no_more_framing_than_a_small_one() -> None:
    reading = fed_with_chunks(b"%x\r\n%s\r\n" % (LIMIT, b"x" * LIMIT), 10)
    reading.feed(b"1;" + b"x" * LIMIT)
    assert reading.broken is not None


@pytest.mark.parametrize("chunk", [b"1\r\nx\r\n", b"00000001\r\nx\r\n", b"1;name=value\r\nx\r\n"])
@pytest.mark.parametrize("at_a_time", [1, LIMIT])
def test_chunks_may_be_of_one_byte(chunk: bytes, at_a_time: int) -> None:
    assert fed_with_chunks(chunk * at_a_time, 2 * LIMIT // at_a_time).broken is None


def test_what_interrupts_the_parser_comes_out_of_it() -> None:
    class Interrupted(ResponseParser):
        def on_body(self, data: bytes) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Interrupted(LIMIT).feed(RECORDED["length"])


PARTS = [
    *(b"\r\n", b"\n", b"\r", b" ", b":", b"\x00", b"\xff", b"0", b"3", b"<p>"),
    *(b"X: y\r\n", b" folded\r\n", b"no colon\r\n"),
    *(OK, THREE, CHUNKED, b"Content-Length: 4\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: gzip\r\n"),
    *(b"Connection: close\r\n", b"HTTP/1.1 100\r\n\r\n", b"HTTP/1.0 404 x\n", b"3\r\n<p>\r\n", b"0\r\n\r\n", b"f" * 20),
    *(b"HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", b"http/1.1 204\r\n", b"Content-Length : 3\r\n"),
]  # fmt: skip
RESPONSES = (
    st.lists(st.sampled_from(PARTS), max_size=30).map(b"".join)
    | st.lists(st.sampled_from(PARTS), max_size=12).map(lambda parts: OK + b"".join(parts))
    | st.lists(st.sampled_from(PARTS) | st.binary(max_size=10), max_size=12).map(lambda parts: OK + b"".join(parts))
    | st.binary(max_size=300)
)

MANY = settings(max_examples=max(200, settings().max_examples))  # what a server sends is the least trusted input


@given(RESPONSES, st.lists(st.integers(1, 300), max_size=5), st.booleans(), st.booleans())
@MANY
@example(b"\n" * 60_000, [1], False, True)
@example(OK + b"X: a\n b" * 8000, [1], False, True)
def test_any_bytes_are_a_response_or_a_named_trouble(
    data: bytes, cuts: list[int], bodiless: bool, closes: bool
) -> None:
    began = time.process_time()
    found = read(data, *cuts, bodiless=bodiless, closes=closes)
    assert time.process_time() - began < 1
    assert bool(found.error) == bool(found.trouble)
    assert found.status in (0, 101) or 200 <= found.status <= 999
    assert found.status or found.trouble or not closes
    assert not (found.trouble and found.reusable)


@given(RESPONSES, st.lists(st.integers(1, 300), max_size=5))
@MANY
def test_no_cut_changes_what_any_bytes_are_read_as(data: bytes, cuts: list[int]) -> None:
    whole, parted = read(data), read(data, *cuts)
    assert (whole.status, whole.trouble, whole.body) == (parted.status, parted.trouble, parted.body)
    assert whole.fields == parted.fields


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1  200 OK\n"], ids=["blank lines", "a head to mend"])
def test_a_head_that_comes_byte_by_byte_takes_no_longer_than_its_length_says(start: bytes) -> None:
    def feed(data: bytes) -> None:
        reading = ResponseParser(1_000_000)
        for at in range(len(data)):
            reading.feed(data[at : at + 1])

    line = b"a\n" if start else b"\r\n"
    assert not climb(feed, lambda size: filled(start, line, b"", size), 64 * 1024, 20.0).fault
