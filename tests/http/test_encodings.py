"""Decoding of Content-Encoding, however the body is split."""

import gzip
import subprocess
import sys
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.text.gzip import STEP
from crawler.http.encodings import ACCEPTED, MAX_FRAMES, decoded
from crawler.http.errors import InvalidResponse

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def bare(data: bytes) -> bytes:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeezer.compress(data) + squeezer.flush()


def zstd_stream(data: bytes) -> bytes:
    """A frame that does not say how long it is, flushed in the middle."""
    squeezer = zstd.ZstdCompressor()
    flushed = squeezer.compress(data[:7], mode=zstd.ZstdCompressor.FLUSH_BLOCK)
    return flushed + squeezer.compress(data[7:], mode=zstd.ZstdCompressor.FLUSH_FRAME)


def skippable(data: bytes) -> bytes:
    return b"\x5a\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


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
    ("br", brotli.compress),
    ("BR", lambda data: brotli.compress(data, quality=1, lgwin=10)),
    ("zstd", zstd.compress),
    ("zstd", zstd_stream),
    ("zstd", lambda data: zstd.compress(data[:10]) + zstd.compress(data[10:])),  # two frames
    ("zstd", lambda data: skippable(b"for others") + zstd.compress(data) + skippable(b"")),
    ("zstd", lambda data: zstd.compress(data) + b"rubbish"),
]
ENCODERS = {
    gzip.compress: "gzip",
    zlib.compress: "deflate",
    bare: "deflate",
    brotli.compress: "br",
    zstd.compress: "zstd",
    zstd_stream: "zstd",
}


@pytest.mark.parametrize(("name", "encode"), FORMS)
def test_it_gives_back_what_was_encoded(name: str, encode) -> None:  # type: ignore[no-untyped-def]
    for data in (b"", b"<p>hello, hello, hello", bytes(range(256)) * 20):
        for size in (1, 2, 7, 10_000):
            assert b"".join(decoded(cut(encode(data), size), name)) == data, size


@given(st.binary(max_size=2000), st.integers(1, 300), st.sampled_from(FORMS))
def test_it_does_not_matter_how_the_body_is_cut(data: bytes, size: int, form) -> None:  # type: ignore[no-untyped-def]
    name, encode = form
    assert b"".join(decoded(cut(encode(data), size), name)) == data


@pytest.mark.parametrize("encode", ENCODERS)
@pytest.mark.parametrize("extra", range(-2, 3))
def test_steps_are_small_and_nothing_is_left_behind(encode, extra: int) -> None:  # type: ignore[no-untyped-def]
    data = bytes(STEP * 3 + extra)
    steps = list(decoded([encode(data)], ENCODERS[encode]))
    assert b"".join(steps) == data
    assert max(map(len, steps)) <= STEP


@pytest.mark.parametrize("encode", [brotli.compress, zstd.compress])
def test_a_bomb_is_opened_step_by_step(encode) -> None:  # type: ignore[no-untyped-def]
    steps = decoded([encode(bytes(20_000_000))], ENCODERS[encode])
    sizes = [len(step) for step in steps]
    assert (sum(sizes), max(sizes) <= STEP) == (20_000_000, True)


@pytest.mark.parametrize("name", ["compress", "gzip, gzip", "deflate, br", "rubbish", "x-br"])
def test_an_encoding_not_asked_for_is_refused(name: str) -> None:
    with pytest.raises(InvalidResponse, match="not requested"):
        list(decoded([b"x"], name))


@pytest.mark.parametrize("encode", ENCODERS)
def test_a_body_that_ends_early_is_refused(encode) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidResponse, match="is truncated"):
        list(decoded([encode(b"hello" * 100)[:-1]], ENCODERS[encode]))


@pytest.mark.parametrize("name", sorted({*ENCODERS.values()}))
def test_an_empty_body_is_empty_however_encoded(name: str) -> None:
    assert list(decoded([], name)) == []


def test_a_zstd_body_may_not_claim_more_memory_than_http_allows() -> None:
    squeezer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 24})
    greedy = squeezer.compress(b"<p>") + squeezer.flush()
    with pytest.raises(InvalidResponse, match="too much memory"):
        list(decoded([greedy], "zstd"))


def test_a_zstd_body_may_not_consist_of_endless_frames() -> None:
    frames = zstd.compress(b"") * 100
    assert list(decoded([frames] * (MAX_FRAMES // 100), "zstd")) == []
    with pytest.raises(InvalidResponse, match="more than 10,000 frames"):
        list(decoded([frames] * (MAX_FRAMES // 100 + 1), "zstd"))


def test_what_cannot_be_decoded_here_is_not_asked_for() -> None:
    """Blocks the package in an interpreter of its own, as on a machine for which there is none."""
    code = "import sys; sys.modules['brotli'] = None; from crawler.http.encodings import ACCEPTED; print(ACCEPTED)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert (ACCEPTED, said.strip()) == ("gzip, deflate, br, zstd", "gzip, deflate, zstd")
