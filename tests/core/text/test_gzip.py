"""Gzip in small steps: whole, in members, broken, and far larger than it looks."""

import gzip
from collections.abc import Iterable

import pytest

from crawler.core.text.gzip import STEP, Broken, gunzipped

WORDS = b"".join(b"word %d\n" % number for number in range(50_000))


def cut(data: bytes, size: int) -> Iterable[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 1000, 10_000_000])
@pytest.mark.parametrize("behind", [b"", b"\0" * 70, b"no member"])
def test_it_is_the_same_however_it_arrives(size: int, behind: bytes) -> None:
    packed = gzip.compress(WORDS) + gzip.compress(b"") + gzip.compress(b"the end") + behind
    assert b"".join(gunzipped(cut(packed, size))) == WORDS + b"the end"


def test_what_ends_too_early_is_broken_after_what_could_be_read() -> None:
    pieces = gunzipped(cut(gzip.compress(WORDS)[:-9], 1000))
    assert next(pieces).startswith(b"word 0")
    with pytest.raises(Broken, match="is truncated"):
        list(pieces)


def test_what_is_damaged_is_broken() -> None:
    with pytest.raises(Broken, match="damaged"):
        list(gunzipped([b"\x1f\x8b" + b"nonsense" * 9]))


def test_no_step_is_larger_than_it_may_be() -> None:
    bomb = gzip.compress(bytes(5_000_000))
    assert len(bomb) < STEP
    assert max(map(len, gunzipped([bomb]))) == STEP


def test_nothing_is_no_fault() -> None:
    assert list(gunzipped([])) == []
