from __future__ import annotations

import pytest

from crawler.core.errors import BadInput
from crawler.exports.formats import FORMATS, format_of


@pytest.mark.parametrize(
    ("file", "format_name"),
    [("pages.jsonl", "jsonl"), ("some/where/pages.csv", "csv"), ("PAGES.CSV", "csv"), ("-", "jsonl")],
)
def test_the_ending_of_a_file_name_asks_for_a_format(file: str, format_name: str) -> None:
    assert format_of(file) == format_name
    assert format_name in FORMATS


@pytest.mark.parametrize("file", ["pages", "pages.xlsx", "", ".csv", "jsonl"])
def test_another_ending_is_bad_input_that_names_the_known_ones(file: str) -> None:
    with pytest.raises(BadInput, match=r"must end in \.jsonl or \.csv") as caught:
        format_of(file)
    assert caught.value.field == "export"
