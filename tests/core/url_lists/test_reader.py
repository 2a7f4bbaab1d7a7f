import gzip
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.url_lists.reader import MAX_LENGTH, NOT_TEXT, NUL, PIECE_BYTES, TOO_LONG, ListLine, lines_of


def cut(data: bytes, size: int = PIECE_BYTES) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def texts(data: bytes, size: int = PIECE_BYTES) -> list[str]:
    return [line.text for line in lines_of(cut(data, size))]


def faults(data: bytes, size: int = PIECE_BYTES) -> list[str]:
    return [line.fault for line in lines_of(cut(data, size))]


def test_lines_end_as_on_any_system_and_are_numbered_from_one() -> None:
    lines = list(lines_of([b"unix\nwindows\r\nold mac\r\nlast"]))
    assert [line.text for line in lines] == ["unix", "windows", "old mac", "last"]
    assert [line.number for line in lines] == [1, 2, 3, 4]
    assert texts(b"a\rb\rc\r") == ["a", "b", "c"]


def test_what_python_takes_for_a_line_end_beside_those_is_none() -> None:
    assert texts("a\u2028b\x85c\x0bd\n".encode()) == ["a\u2028b\x85c\x0bd"]


@given(st.lists(st.sampled_from([b"a", "é".encode(), b"\n", b"\r", b"\r\n", b""])), st.integers(1, 5))
def test_it_does_not_matter_how_a_file_is_cut_into_pieces(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    for packed in (data, gzip.compress(data)):
        assert texts(packed, size) == data.decode().replace("\r\n", "\n").replace("\r", "\n").splitlines()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("size", [1, 3, PIECE_BYTES])
def test_encodings_of_text_are_told_apart(encoding: str, size: int) -> None:
    assert texts("https://exämple.de/é\nb\n".encode(encoding), size) == ["https://exämple.de/é", "b"]


def test_one_line_in_latin_1_leaves_the_others_utf_8() -> None:
    assert texts("é\n".encode() + "é\n".encode("latin-1") + "é\n".encode()) == ["é", "é", "é"]


def test_bytes_that_are_no_text_in_either_encoding_are_a_fault_of_their_line() -> None:
    assert faults(b"a\n\xff\x93\nb\n") == ["", NOT_TEXT, ""]


def test_nul_bytes_are_a_fault_of_their_line() -> None:
    assert faults(b"a\nb\0\nc") == ["", NUL, ""]


@pytest.mark.parametrize("character", ["x", "é", "🙂"])
@pytest.mark.parametrize("size", [1000, PIECE_BYTES])
def test_a_line_that_is_too_long_is_cut_and_marked_and_the_next_one_fine(character: str, size: int) -> None:
    fits, long = character * MAX_LENGTH, character * (MAX_LENGTH + 1)
    lines = list(lines_of(cut(f"{fits}\n{long}\r\n{long * 9}\rnext".encode(), size)))
    assert [line.fault for line in lines] == ["", TOO_LONG, TOO_LONG, ""]
    assert lines[0].text == fits
    assert lines[1].text == fits
    assert len(lines[2].text) <= MAX_LENGTH
    assert lines[3] == ListLine(4, "next", "")


def test_gzip_of_several_members_with_padding_is_unpacked() -> None:
    packed = gzip.compress(b"a\nb") + gzip.compress(b"c\n") + b"\0" * 70
    for size in (1, 7, PIECE_BYTES):
        assert texts(packed, size) == ["a", "bc"]


def test_gzip_that_ends_in_the_middle_is_refused_after_what_could_be_read() -> None:
    whole = b"".join(b"%d\n" % number for number in range(30_000))
    lines = lines_of(cut(gzip.compress(whole)[:-9]))
    assert next(lines).text == "0"
    with pytest.raises(BadInput, match="is truncated"):
        list(lines)


def test_damaged_gzip_is_refused() -> None:
    with pytest.raises(BadInput, match="damaged"):
        list(lines_of([b"\x1f\x8b" + b"nonsense" * 9]))


def test_a_file_that_unpacks_to_far_more_than_it_is_ends_at_the_limit() -> None:
    bomb = gzip.compress(b"\n" * 2_000_000)
    assert len(bomb) < PIECE_BYTES
    lines = lines_of([bomb], max_bytes=200_000)
    assert len(list(islice(lines, 180_000))) == 180_000
    with pytest.raises(BadInput, match="larger than 200,000 bytes"):
        list(lines)


def test_an_empty_file_has_no_lines() -> None:
    assert texts(b"") == []
    assert texts(gzip.compress(b"")) == []
