import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.core.errors import BadInput
from crawler.exports import file
from crawler.exports.file import MIN_PIECE_SIZE, gathered


def test_writing_leaves_the_complete_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "pages.csv"
    target.write_text("old")
    file.write(str(target), ["a\r\n", "ü\r\n"])
    assert target.read_bytes() == "a\r\nü\r\n".encode()
    assert list(tmp_path.iterdir()) == [target]


def test_a_write_that_fails_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    target = tmp_path / "pages.csv"
    target.write_text("old")
    with pytest.raises(OSError, match="No space"):
        file.write(str(target), pieces())
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_file_is_not_under_its_name_before_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "pages.csv"
    seen: list[bool] = []

    def pieces() -> Iterator[str]:
        yield "half"
        seen.append(target.exists())

    file.write(str(target), pieces())
    assert seen == [False]
    assert target.exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    file.write(str(tmp_path / "link.csv"), ["a"])
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "a"


def test_a_device_is_written_to_and_never_replaced() -> None:
    file.check_writable(os.devnull)
    file.write(os.devnull, ["a"])
    assert not Path(os.devnull).is_file()


def test_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pages.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        file.check_writable(str(pipe))
        file.write(str(pipe), ["a"])
        assert os.read(reader, 10) == b"a"
    finally:
        os.close(reader)


def test_looking_whether_it_can_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    file.check_writable(str(tmp_path / "pages.csv"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["missing/pages.csv", ".", "file/pages.csv", "x" * 300, "a\0b"])
def test_a_place_that_cannot_be_written_is_bad_input(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    with pytest.raises(BadInput, match=r"cannot be written: .*[a-z]") as caught:
        file.check_writable(f"{tmp_path}/{name}")
    assert "\n" not in str(caught.value)


def test_small_pieces_are_joined_and_nothing_is_lost() -> None:
    pieces = list(gathered(["x" * 10_000] * 20))
    assert "".join(str(piece) for piece in pieces) == "x" * 200_000
    assert all(len(piece) >= MIN_PIECE_SIZE for piece in pieces[:-1])


def test_bytes_stay_bytes() -> None:
    assert list(gathered([b"a", b"b"])) == [b"ab"]


def test_nothing_is_nothing() -> None:
    assert list(gathered([])) == []
    assert list(gathered([b"", b""])) == []
