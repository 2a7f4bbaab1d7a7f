"""What strangers wrote, made harmless for whatever shows it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.text.sanitize import lines, one_line

STEERS = ["\x1b", "\x9b", "\x07", "\x08", "\x7f", "\x00", "\t", "\r", "\x85", "\u2028", "\u202e", "\u2066", "\u200f"]
STEERS += ["\ufeff", "\ufff9", "\U000e0041"]


@pytest.mark.parametrize("mark", STEERS)
def test_what_steers_is_shown_as_an_escape(mark: str) -> None:
    for shown in (one_line(f"a{mark}b"), lines(f"a{mark}b")):
        assert shown.isprintable()
        assert shown.startswith("a\\u")


@pytest.mark.parametrize("text", ["", "Grüße, 世界", "a \\ b", "👩\u200d🚀", "e\u0301", "\u0646\u200c\u0645"])
def test_what_can_be_read_stays_as_it_is(text: str) -> None:
    assert (one_line(text), lines(text)) == (text, text)


def test_line_ends_stay_where_they_are_meant() -> None:
    assert lines("a\nb\r\nc\rd") == "a\nb\r\nc\\u000dd"
    assert one_line("a\nb\r\nc") == "a\\u000ab\\u000d\\u000ac"


@given(st.text())
def test_json_means_the_same_afterwards(text: str) -> None:
    assert json.loads(lines(json.dumps({text: [text]}, ensure_ascii=False, indent=1))) == {text: [text]}
