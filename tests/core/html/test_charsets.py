"""Reading a page in the encoding a browser would choose."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html.charsets import _LABELS_OF_CODEC, decode, encoding_of, utf_8

HTML = "text/html"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("é".encode(), "text/html; charset=utf-8", "é"),
        (b"\xe9", "text/html; charset=utf-8", "\ufffd"),  # the header is obeyed, even when it is wrong
        (b"\xe9", 'TEXT/HTML; CHARSET="ISO-8859-1"', "é"),
        (b"\x80", "text/html; charset=iso-8859-1", "€"),  # latin-1 means windows-1252
        (b"\x93", "text/html;charset = us-ascii ; x=y", "“"),
        (b"\x87\x40", "text/html; charset=Shift_JIS", "①"),  # code page 932, not JIS alone
        (b"\x81\x30\x81\x30", "text/html; charset=gb2312", "\x80"),  # gb18030, which contains it
        (b"\x81\x41", "text/html; charset=euc-kr", "갂"),  # code page 949, which contains it
        ("é".encode("utf-16-le"), "text/html; charset=utf-16", "é"),
        # A byte order mark wins over everything and is not part of the text.
        (b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=iso-8859-1", "é"),
        (b"\xff\xfe\xe9\x00", "text/html; charset=utf-8", "é"),
        (b"\xfe\xff\x00\xe9", HTML, "é"),
        # Labels that name no text encoding are passed over.
        ("é".encode(), "text/html; charset=zlib", "é"),
        ("é".encode(), "text/html; charset=base64", "é"),
        (b"+AOk-", "text/html; charset=utf-7", "+AOk-"),
        (b"\\u00e9", "text/html; charset=unicode_escape", "\\u00e9"),
        ("é".encode(), "text/html; charset=no\x00thing", "é"),
        ("é".encode(), "text/html; charset=", "é"),
        # Nothing is said: UTF-8 if it can be.
        ("é".encode(), "", "é"),
        (b"\xe9", HTML, "é"),
        (b"", HTML, ""),
    ],
)
def test_it_reads_the_header_then_the_bytes(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    ("body", "codec"),
    [
        (b'<meta charset="windows-1251">', "cp1251"),
        (b"<META CHARSET=koi8-r />", "koi8-r"),
        (b"<meta name=x charset='big5'>", "big5hkscs"),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=euc-jp">', "euc-jp"),
        (b"<meta content='text/html;charset=euc-jp' http-equiv=content-type>", "euc-jp"),
        (b'<meta content="text/html; charset=euc-jp">', "utf-8"),  # not without http-equiv
        (b'<meta name="description" content="charset=euc-jp">', "utf-8"),
        (b'<meta charset="nonsense"><meta charset="koi8-r">', "koi8-r"),
        (b'<!-- <meta charset="koi8-r"> -->', "utf-8"),
        (b'<!-- <meta charset="koi8-r">', "utf-8"),
        (b'<meta title="a>b" charset="koi8-r">', "koi8-r"),
        (b'<meta charset="utf-16">\xe9', "utf-8"),  # it was read byte by byte, so it is not
        (b"<metadata charset=koi8-r>", "utf-8"),
        (b" " * 1000 + b'<meta charset="koi8-r">', "koi8-r"),
        (b" " * 1024 + b'<meta charset="koi8-r">', "utf-8"),  # beyond the first 1024 bytes nobody looks
        (b'<?xml version="1.0" encoding="windows-1251"?>', "cp1251"),
        (b'<?xml version="1.0" encoding="windows-1251"?><meta charset="koi8-r">', "koi8-r"),
        (b'<meta charset="koi8-r', "utf-8"),
    ],
)
def test_it_reads_what_the_markup_says(body: bytes, codec: str) -> None:
    assert encoding_of(body, HTML) == codec


def test_the_header_wins_over_the_markup() -> None:
    assert encoding_of(b'<meta charset="koi8-r">', "text/html; charset=utf-8") == "utf-8"


@pytest.mark.parametrize("codec", _LABELS_OF_CODEC)
def test_every_codec_it_may_name_exists(codec: str) -> None:
    assert codecs.lookup(codec)


@given(
    st.binary(),
    st.sampled_from(["", "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=koi8-r"]),
)
def test_its_utf_8_is_that_of_its_text(body: bytes, content_type: str) -> None:
    for page in (body, b"\xef\xbb\xbf" + body, body.decode("utf-8", "ignore").encode()):
        assert utf_8(page, content_type) == decode(page, content_type).encode()
