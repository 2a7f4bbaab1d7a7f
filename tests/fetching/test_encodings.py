"""Content-Encoding undone, whatever way the body is cut into pieces."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetching.encodings import STEP, decoded
from crawler.fetching.trouble import NotHttp


def bare(data: bytes) -> bytes:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeezer.compress(data) + squeezer.flush()


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


FORMS = [
    ("", lambda data: data),
    ("identity", lambda data: data),
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    (" GZip ,identity", gzip.compress),
    ("gzip", lambda data: gzip.compress(data[:10]) + gzip.compress(data[10:])),  # two members
    ("gzip", lambda data: gzip.compress(data) + bytes(20)),  # padded
    ("gzip", lambda data: gzip.compress(data) + b"rubbish"),
    ("deflate", zlib.compress),
    ("deflate", bare),
    ("deflate", lambda data: zlib.compress(data) + b"rubbish"),
]


@pytest.mark.parametrize(("name", "encode"), FORMS)
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("data", [b"", b"<p>hello, hello, hello", bytes(range(256)) * 20])
def test_it_gives_back_what_was_encoded(name: str, encode, size: int, data: bytes) -> None:  # type: ignore[no-untyped-def]
    assert b"".join(decoded(cut(encode(data), size), name)) == data


@given(st.binary(max_size=2000), st.integers(1, 300), st.sampled_from(FORMS))
def test_it_does_not_matter_how_the_body_is_cut(data: bytes, size: int, form) -> None:  # type: ignore[no-untyped-def]
    name, encode = form
    assert b"".join(decoded(cut(encode(data), size), name)) == data


@given(st.lists(st.binary(max_size=50), max_size=10), st.sampled_from(["gzip", "deflate", "br", ""]))
def test_rubbish_is_decoded_or_called_so(pieces: list[bytes], name: str) -> None:
    try:
        b"".join(decoded(pieces, name))
    except NotHttp as error:
        assert str(error)  # noqa: PT017  (any other exception is the failure)


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress, bare])
@pytest.mark.parametrize("extra", range(-2, 3))
def test_steps_are_small_and_nothing_is_left_behind(encode, extra: int) -> None:  # type: ignore[no-untyped-def]
    data = bytes(STEP * 3 + extra)
    steps = list(decoded([encode(data)], "gzip" if encode is gzip.compress else "deflate"))
    assert b"".join(steps) == data
    assert max(map(len, steps)) <= STEP


@pytest.mark.parametrize("name", ["br", "zstd", "compress", "gzip, gzip", "deflate, gzip", "rubbish"])
def test_an_encoding_not_asked_for_is_refused(name: str) -> None:
    with pytest.raises(NotHttp, match="not asked for"):
        list(decoded([b"x"], name))


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress, bare])
def test_a_body_that_ends_early_is_refused(encode) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NotHttp, match="ends before its end"):
        list(decoded([encode(b"hello" * 100)[:-1]], "gzip" if encode is gzip.compress else "deflate"))


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_an_empty_body_is_empty_however_encoded(name: str) -> None:
    assert list(decoded([], name)) == []
