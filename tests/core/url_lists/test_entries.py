import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from crawler.core.errors import BadInput
from crawler.core.url_lists.entries import PROBED_LINES, Entry, Invalid, entries_of
from crawler.core.url_lists.reader import MAX_LENGTH, NOT_TEXT, NUL, TOO_LONG, ColumnChoice
from crawler.core.url_lists.values import moment_of, priority_of
from crawler.core.urls.normalise import parse_user_url
from tests.text_files import listed

URL = "https://example.com/"


def read(text: str | bytes, file_name: str = "urls.txt", columns: ColumnChoice | None = None) -> list[Entry | Invalid]:
    return list(entries_of([text.encode() if isinstance(text, str) else text], file_name, columns))


def refusal(text: str | bytes, file_name: str = "urls.txt") -> str:
    with pytest.raises(BadInput) as caught:
        read(text, file_name)
    assert caught.value.field == "list"
    return caught.value.message


def test_one_url_a_line_as_people_type_them() -> None:
    text = "# my pages\n\nhttps://Example.com/a#part\n  example.com/b \n\t\nlocalhost:8000\n"
    assert read(text) == [
        Entry(3, "https://example.com/a"),
        Entry(4, "https://example.com/b"),
        Entry(6, "http://localhost:8000/"),
    ]


LISTS = {
    "urls.txt": f"{URL}\nnonsense\nftp://example.com/\nme@example.com\nhttp://\n",
    "urls.csv": f'url,priority\n{URL},1\n{URL}a,11\n,3\n"{URL},1\nnonsense,2\n',
    "times.csv": f"url,ttl,not_before\n{URL},,\n"
    + "".join(f"{URL},{times}\n" for times in ("0,", "soon,", "9y,", ",tomorrow", ",1795464900000")),
    "long.csv": f"url,note\n{URL},a\n{URL}b,{'x' * 4_000}\n",
    "urls.jsonl": f"""{{"url": "{URL}"}}
{{"url": "{URL}"
{{"address of the page": "{URL}"}}
{{"url": "nonsense"}}
{{"url": "{URL}", "tags": ["a"]}}
["{URL}"]
{URL}
{"[" * 5000}
""",
}


def test_what_cannot_be_used_keeps_its_line_number_and_says_why(golden: SnapshotAssertion) -> None:
    invalid = {name: [item for item in read(text) if isinstance(item, Invalid)] for name, text in LISTS.items()}
    told = {name: [f"{item.line}: {item.text[:60]!r}: {item.why}" for item in items] for name, items in invalid.items()}
    assert listed(told) == golden


def test_lines_that_cannot_be_read_are_told_and_passed_over() -> None:
    text = b"a.example\n" * PROBED_LINES + b"x" * (MAX_LENGTH + 1) + b"\n\xff\x93\nb\0\nb.example\n"
    after = read(text)[PROBED_LINES:]
    assert [item.why for item in after if isinstance(item, Invalid)] == [TOO_LONG, NOT_TEXT, NUL]
    assert after[-1] == Entry(PROBED_LINES + 4, "https://b.example/")


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
        expected = parse_user_url(typed)
    except BadInput:
        assert isinstance(found, Invalid)
    else:
        assert found == Entry(2, expected)


def test_a_table_gives_urls_and_priorities_by_column() -> None:
    text = f'name,url,priority\nA,{URL}a,9\n"B, and\nmore",{URL}b,0.2\n,,\nC,{URL}c,\nD,{URL}d\n'
    assert read(text, "pages.csv") == [
        Entry(2, f"{URL}a", 9, meta={"name": "A"}),
        Entry(3, f"{URL}b", 2, meta={"name": "B, and\nmore"}),
        Entry(6, f"{URL}c", meta={"name": "C"}),
        Entry(7, f"{URL}d", meta={"name": "D"}),
    ]


def test_a_table_gives_times_and_carries_its_other_columns() -> None:
    text = f"Customer,url,ttl,not_before,note\n4711,{URL}a,30m,2026-11-23T20:15:00Z,\n,{URL}b,90,1795464900,\n"
    assert read(text, "pages.csv") == [
        Entry(2, f"{URL}a", None, 1800.0, 1795464900.0, {"Customer": "4711"}),
        Entry(3, f"{URL}b", None, 90.0, 1795464900.0, None),
    ]


def test_json_lines_give_the_same_by_name() -> None:
    text = f"""{{"URL": "{URL}a", "priority": 9, "ttl": 90, "not_before": 1795464900.5, "id": 7, "is_new": true}}

{{"url": "{URL}b", "priority": "0.2", "ttl": "30m", "id": null, "note": ""}}
{{"link": "{URL}c"}}
"""
    expected = [
        Entry(1, f"{URL}a", 9, 90.0, 1795464900.5, {"id": 7, "is_new": True}),
        Entry(3, f"{URL}b", 2, 1800.0),
        Entry(4, f"{URL}c"),
    ]
    assert read(text) == expected
    assert read(gzip.compress(text.encode()), "urls.jsonl.gz") == expected


def test_names_can_be_chosen_in_json_lines_and_numbers_cannot() -> None:
    text = f'{{"page": "{URL}", "rank": 3, "url": "kept"}}'
    assert read(text, "-", ColumnChoice("Page", "Rank")) == [Entry(1, URL, 3, meta={"url": "kept"})]
    with pytest.raises(BadInput, match="enter a key instead of a number") as caught:
        read(text, "-", ColumnChoice("1"))
    assert caught.value.field == "list_column"


def test_a_column_can_be_chosen() -> None:
    assert read(f"{URL}a;{URL}b;7\n", "-", ColumnChoice("2", "3")) == [Entry(1, f"{URL}b", 7)]


def test_comments_may_stand_before_the_names_of_columns() -> None:
    assert read(f"# exported\nurl,priority\n{URL},7\n") == [Entry(3, URL, 7)]


@pytest.mark.parametrize(
    ("typed", "priority"),
    [
        ("", None),
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


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2026-11-23T20:15:00Z", 1795464900.0),
        ("2026-11-23T21:15:00+01:00", 1795464900.0),
        ("2026-11-23 20:15", 1795464900.0),  # without a zone: UTC
        ("2026-11-23", 1795392000.0),
        ("1795464900.5", 1795464900.5),
        ("0", 0.0),
        ("1795464900000", None),  # milliseconds
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("23.11.2026", None),
    ],
)
def test_times_are_of_iso_8601_or_epoch_seconds(typed: str, moment: float | None) -> None:
    assert moment_of(typed) == moment


PROSE = "Call me Ishmael\n"
REFUSED: dict[str, str | bytes] = {
    "a program": b"\x7fELF\n\0\0\nexample.com\n",
    "bytes of no encoding": bytes(range(128, 256)) * 20,
    "UTF-16 without its mark": URL.encode("utf-16-le"),
    "gzip that breaks off": gzip.compress(b"x" * 99, mtime=0)[:20],
    "prose": PROSE * 3,
    "one line of prose": PROSE,
    "prose, and a URL too late": PROSE * PROBED_LINES + URL,
    "empty": "",
    "blank lines": " \n\n",
    "comments": "# later\n",
    "names of columns": "url\n",
}


def test_what_is_no_list_is_refused_with_advice(golden: SnapshotAssertion) -> None:
    assert listed({name: refusal(content) for name, content in REFUSED.items()}) == golden


def test_a_url_among_the_first_lines_makes_a_list() -> None:
    assert read(PROSE * (PROBED_LINES - 1) + URL)[-1] == Entry(PROBED_LINES, URL)


def test_a_list_with_too_many_lines_is_refused() -> None:
    with pytest.raises(BadInput, match="more than 2 lines"):
        list(entries_of([b"example.com\n" * 3], "urls.txt", max_lines=2))


def test_utf_16_with_its_mark_is_read() -> None:
    assert read(f"url\r\n{URL}é\r\n".encode("utf-16")) == [Entry(2, f"{URL}%C3%A9")]


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
