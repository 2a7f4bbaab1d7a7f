"""Words are counted alike in short texts and in long ones."""

import tracemalloc

import pytest

from crawler.core.html.simhash import count_of, words_of

BLANKS = " \t\n\x1c\u00a0\u2003"


@pytest.mark.parametrize("times", [1, 10, 100_000], ids=["short", "of some length", "long"])
def test_words_stand_between_white_space(times: int) -> None:
    text = f"{BLANKS}one{BLANKS}two-three, 漢字 " * times
    assert words_of(text, 3) == (["one", "two-three,", "漢字"], 3 * times)
    assert count_of(text) == 3 * times


def test_a_text_without_words_has_none() -> None:
    assert words_of(BLANKS, 5) == ([], 0)


def test_a_long_text_is_counted_in_little_memory() -> None:
    text = "word " * 400_000
    tracemalloc.start()
    try:
        assert words_of(text, 10)[1] == 400_000
        assert tracemalloc.get_traced_memory()[1] < len(text) / 10
    finally:
        tracemalloc.stop()
