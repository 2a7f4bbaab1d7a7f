from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.url_lists.entries import PROBED_LINES, Entry, Invalid, entries_of, priority_of
from crawler.core.url_lists.reader import MAX_LENGTH, NOT_TEXT, NUL, TOO_LONG, UNCLOSED, Columns
from crawler.core.urls.normalise import from_person

URL = "https://example.com/"


def read(text: str | bytes, file_name: str = "urls.txt", columns: Columns | None = None) -> list[Entry | Invalid]:
    return list(entries_of([text.encode() if isinstance(text, str) else text], file_name, columns))


def refusal(text: str | bytes, file_name: str = "urls.txt") -> str:
    with pytest.raises(BadInput) as caught:
        read(text, file_name)
    assert caught.value.field == "list"
    return caught.value.message


def test_one_url_a_line_as_people_type_them() -> None:
    text = "# my pages\n\nhttps://Example.com/a#part\n  example.com/b \n\t\nlocalhost:8000\n"
    assert read(text) == [
        Entry(3, "https://example.com/a", 5),
        Entry(4, "https://example.com/b", 5),
        Entry(6, "http://localhost:8000/", 5),
    ]


def test_what_is_no_url_keeps_its_line_number_and_says_why() -> None:
    found = read(f"{URL}\nnonsense\nftp://example.com/\nme@example.com\nhttp://\n")
    assert [(item.line, item.why) for item in found if isinstance(item, Invalid)] == [
        (2, "'nonsense' is not a web address; give one such as https://example.com/."),
        (3, "Only http and https can be crawled, not ftp: 'ftp://example.com/'."),
        (4, "'me@example.com' looks like an e-mail address; give a web address such as https://example.com/."),
        (5, "'http://' names no host; give a web address such as https://example.com/."),
    ]


def test_lines_that_cannot_be_read_are_told_and_passed_over() -> None:
    text = b"a.example\n" * PROBED_LINES + b"x" * (MAX_LENGTH + 1) + b"\n\xff\x93\nb\0\nb.example\n"
    after = read(text)[PROBED_LINES:]
    assert [item.why for item in after if isinstance(item, Invalid)] == [TOO_LONG, NOT_TEXT, NUL]
    assert after[-1] == Entry(PROBED_LINES + 4, "https://b.example/", 5)


@pytest.mark.parametrize(
    "typed",
    [
        URL,
        " http://a.example/x y",
        "https://a.example/%7Eme",
        "http://a.example/\tb",
        "https://",
        "HTTP://A.example",
        "//a.b",
    ],
)
def test_the_short_way_reads_a_url_as_the_long_one_does(typed: str) -> None:
    [_, found] = read(f"{URL}\n{typed}\n")
    try:
        expected = from_person(typed)
    except BadInput:
        assert isinstance(found, Invalid)
    else:
        assert found == Entry(2, expected, 5)


def test_a_table_gives_urls_and_priorities_by_column() -> None:
    text = f'name,url,priority\nA,{URL}a,9\n"B, and\nmore",{URL}b,0.2\n,,\nC,{URL}c,\nD,{URL}d\n'
    assert read(text, "pages.csv") == [
        Entry(2, f"{URL}a", 9),
        Entry(3, f"{URL}b", 2),
        Entry(6, f"{URL}c", 5),
        Entry(7, f"{URL}d", 5),
    ]


def test_rows_that_name_no_page_or_no_priority_say_so() -> None:
    text = f'url,priority\n{URL},1\n{URL}a,11\n,3\n"{URL},1\nnonsense,2\n'
    assert [(item.line, item.text, item.why) for item in read(text) if isinstance(item, Invalid)] == [
        (3, "11", "'11' is no priority: give 0 (last) to 10 (first), or 0.0 to 1.0."),
        (4, ",3", "Column 1, that of the URLs, is empty."),
        (5, f'"{URL},1', UNCLOSED),
        (6, "nonsense", "'nonsense' is not a web address; give one such as https://example.com/."),
    ]


def test_a_column_can_be_chosen() -> None:
    assert read(f"{URL}a;{URL}b;7\n", "-", Columns("2", "3")) == [Entry(1, f"{URL}b", 7)]


def test_comments_may_stand_before_the_names_of_columns() -> None:
    assert read(f"# exported\nurl,priority\n{URL},7\n") == [Entry(3, URL, 7)]


@pytest.mark.parametrize(
    ("typed", "priority"),
    [
        ("", 5),
        ("0", 0),
        ("7", 7),
        ("10", 10),
        ("0.0", 0),
        (".5", 5),
        ("0.85", 9),
        ("1.0", 10),
        ("1", 1),  # a whole number is no share
        ("11", None),
        ("-1", None),
        ("1.5", None),
        ("0,5", None),
        ("high", None),
        ("٣", None),
    ],
)
def test_priorities_are_whole_numbers_to_ten_or_shares_with_a_point(typed: str, priority: int | None) -> None:
    assert priority_of(typed) == priority


def test_binary_noise_is_no_list() -> None:
    assert "line 2 holds NUL bytes" in refusal(b"\x7fELF\n\0\0\nexample.com\n")
    assert "neither UTF-8 nor Latin-1" in refusal(bytes(range(128, 256)) * 20)
    assert "unpacked" in refusal(gzip.compress(b"x" * 99)[:20])


def test_text_without_a_url_is_no_list() -> None:
    prose = "Call me Ishmael\n"
    assert refusal(prose * 3).startswith(
        "urls.txt is not a list of URLs: none of its first 3 lines can be used. Line 1: 'Call me Ishmael' is not"
    )
    assert "none of its first 1,000 lines can be used" in refusal(prose * PROBED_LINES + URL)
    assert read(prose * (PROBED_LINES - 1) + URL)[-1] == Entry(PROBED_LINES, URL, 5)
    assert "its only line cannot be used" in refusal(prose)


def test_an_empty_list_is_no_list() -> None:
    assert refusal("") == "urls.txt is not a list of URLs: it is empty."
    assert refusal(" \n\n") == "urls.txt is not a list of URLs: it is empty."
    assert "nothing but comments" in refusal("# later\n")
    assert "nothing but comments or names of columns" in refusal("url\n")


def test_a_list_with_too_many_lines_is_refused() -> None:
    with pytest.raises(BadInput, match="more than 2 lines"):
        list(entries_of([b"example.com\n" * 3], "urls.txt", max_lines=2))


def test_utf_16_with_its_mark_is_read_and_without_it_refused_with_advice() -> None:
    assert read(f"url\r\n{URL}é\r\n".encode("utf-16")) == [Entry(2, f"{URL}%C3%A9", 5)]
    assert "Save it as text or CSV, in UTF-8." in refusal(URL.encode("utf-16-le"))


@given(
    st.lists(st.sampled_from([URL, "example.com", '"', ",", ";", "\n", "\t", "#", "url", "priority", "7", " ", "é"])),
    st.sampled_from(["-", "a.csv", "a.tsv"]),
)
def test_every_line_with_something_on_it_is_told_of_once_and_in_order(parts: list[str], file_name: str) -> None:
    text = "".join(parts)
    try:
        found = read(text, file_name)
    except BadInput:
        return
    numbers = [item.line for item in found]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] <= len(text.split("\n"))
