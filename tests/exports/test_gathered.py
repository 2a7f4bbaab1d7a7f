from crawler.exports.file import MIN_PIECE_SIZE, gathered


def test_small_pieces_are_joined_and_nothing_is_lost() -> None:
    pieces = list(gathered(["x" * 10_000] * 20))
    assert "".join(str(piece) for piece in pieces) == "x" * 200_000
    assert all(len(piece) >= MIN_PIECE_SIZE for piece in pieces[:-1])


def test_bytes_stay_bytes() -> None:
    assert list(gathered([b"a", b"b"])) == [b"ab"]


def test_nothing_is_nothing() -> None:
    assert list(gathered([])) == []
    assert list(gathered([b"", b""])) == []
