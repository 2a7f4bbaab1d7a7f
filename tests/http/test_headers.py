"""Parsing of response headers, as a table."""

import pytest

from crawler.http.fetcher import MAX_RETRY_AFTER_S, media_type_of, parse_retry_after, text_of

NOW = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("header", "media_type"),
    [
        ("text/html", "text/html"),
        (" Text/HTML ; charset=utf-8", "text/html"),
        ("text/html;charset=utf-8,text/plain", "text/html"),
        ("", ""),
        ("html", ""),
        ("text/html, text/plain", ""),  # two media types name none
        ("text/ html", ""),
    ],
)
def test_the_media_type(header: str, media_type: str) -> None:
    assert media_type_of(header) == media_type


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 5000, MAX_RETRY_AFTER_S),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),  # obsolete, still to be read
        ("Sun Nov  6 08:50:37 1994", 60.0),  # asctime
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),  # over already
        ("Sun, 06 Nov 9994 08:00:00 GMT", MAX_RETRY_AFTER_S),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None),
    ],
)
def test_the_wait_a_server_asks_for(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


@pytest.mark.parametrize(
    ("handed", "text"), [("/a", "/a"), ("/\xc3\xa9", "/é"), ("/\xe9", "/é"), ("/\xff", "/ÿ"), ("/\u20ac", "/€")]
)
def test_text_is_utf_8_or_latin_1(handed: str, text: str) -> None:
    assert text_of(handed) == text
