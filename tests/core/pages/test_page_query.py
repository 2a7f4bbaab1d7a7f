"""What a query string and a cursor ask of the table of pages, and what of them cannot be asked."""

import base64
import string
from contextlib import suppress
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_field import Sort
from crawler.core.pages.page_query import MAX_NUMBER, PagesQuery, Show, Span, cursor_of, numbers_of, read


def asked(query_string: str) -> PagesQuery:
    return read(parse_qs(query_string, keep_blank_values=True))


def test_nothing_said_asks_for_all_pages_in_the_order_they_were_found() -> None:
    assert asked("") == asked("q=&show=&outcome=&status=&depth=&type=&sort=&after=") == PagesQuery()
    assert not PagesQuery().is_narrowed


def test_what_means_nothing_here_is_passed_over() -> None:
    assert asked("utm_source=mail&page=3") == PagesQuery()


@pytest.mark.parametrize(
    ("query_string", "field", "value"),
    [
        ("q=+left+over+", "text", "left over"),
        ("q=a%00b", "text", "ab"),  # PostgreSQL has no place for NUL
        ("q=first&q=last", "text", "last"),
        ("show=orphans", "show", Show.ORPHANS),
        ("outcome=Timeout", "outcome", "timeout"),
        ("status=4XX", "status", "4xx"),
        ("depth=003%2B", "depth", "3+"),
        ("type=Text/HTML", "content_type", "text/html"),
        ("sort=-size", "sort", Sort.SIZE),
        ("sort=-size", "descending", True),
        ("column=type&column=size&column=type", "columns", ("type", "size")),
        ("after=12", "after", 12),
        ("before=12", "mark", 12),
    ],
)
def test_it_is_read(query_string: str, field: str, value: object) -> None:
    assert getattr(asked(query_string), field) == value


@pytest.mark.parametrize(
    ("query_string", "field"),
    [
        (f"q={'x' * 201}", "q"),
        ("show=everything", "show"),
        ("outcome=404", "outcome"),
        ("status=600", "status"),
        ("status=40", "status"),
        ("status=%D9%A4%D9%A0%D9%A4", "status"),  # 404 in Arabic digits
        ("depth=-1", "depth"),
        ("depth=9999999999", "depth"),  # more than the column holds
        ("sort=colour", "sort"),
        ("after=x", "after"),
        ("after=1&before=2", "after"),
        (f"before={'9' * 19}", "before"),  # more than a key can be
    ],
)
def test_what_cannot_be_is_refused_by_name(query_string: str, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        asked(query_string)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        ("", None),
        ("open", ("",)),
        ("4xx", ("4xx",)),
        ("cancelled", ("cancelled",)),
        ("fetched", ("2xx", "3xx", "4xx", "5xx", "unchanged")),
    ],
)
def test_an_outcome_stands_for_what_rows_have(outcome: str, wanted: tuple[str, ...] | None) -> None:
    assert asked(f"outcome={outcome}").outcomes == wanted


def test_numbers_are_spans() -> None:
    query = asked("status=4xx&depth=3%2B")
    assert (query.statuses, query.depths) == (Span(400, 499), Span(3, None))
    query = asked("status=404&depth=3")
    assert (query.statuses, query.depths) == (Span(404, 404), Span(3, 3))


def test_sorting_by_the_same_again_turns_the_order_and_begins_anew() -> None:
    once = asked("q=a&after=7").sorted_by(Sort.SIZE)
    assert (once.order, once.after, once.text) == ("size", None, "a")
    assert once.sorted_by(Sort.SIZE).order == "-size"
    assert once.sorted_by(Sort.SIZE).sorted_by(Sort.SIZE).order == "size"
    assert once.sorted_by(Sort.SIZE).sorted_by(Sort.URL).order == "url"


queries = st.builds(
    PagesQuery,
    text=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20).map(str.strip),
    show=st.sampled_from(Show),
    outcome=st.sampled_from(["", "open", "fetched", *(outcome.value for outcome in Outcome)]),
    status=st.sampled_from(["", "404", "4xx"]),
    depth=st.sampled_from(["", "0", "3", "3+"]),
    content_type=st.sampled_from(["", "text/html"]),
    sort=st.sampled_from(Sort),
    descending=st.booleans(),
    columns=st.lists(st.sampled_from(["type", "size", "field:price"]), unique=True).map(tuple),
    after=st.one_of(st.none(), st.integers(0, 10**18 - 1)),
)
queries |= queries.map(PagesQuery.from_the_end)


@given(queries)
def test_a_query_can_be_said_and_read_again(query: PagesQuery) -> None:
    assert asked(urlencode(query.pairs())) == query


DIGITS = set(string.digits)
ARABIC_7 = "\u0667"  # a digit to `int` and to `\\d`
SIGNS = string.ascii_letters + string.digits + "-_.~ ="


@given(st.lists(st.integers(0, MAX_NUMBER), min_size=1, max_size=3))
def test_a_cursor_gives_back_its_numbers(numbers: list[int]) -> None:
    cursor = cursor_of(*numbers)
    assert numbers_of(cursor, len(numbers)) == tuple(numbers)
    assert cursor.isascii()
    assert not set(cursor) & set("+/=& ?#")


PARTS = st.integers(-2, 2**70).map(str) | st.sampled_from(
    ["", "7", " 7", "7 ", "+7", "1_0", ARABIC_7, "7e1", "0x7", "7\n"]
)


def packed(plain: str) -> str:
    """A cursor that stands for this text."""
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


@given(st.lists(PARTS, max_size=4).map(".".join), st.integers(1, 3))
@example("7", 1)
@example("7.8", 2)
@example("7.8", 1)
@example(f"{MAX_NUMBER}", 1)
@example(f"{MAX_NUMBER + 1}", 1)
@example("1_0", 1)
def test_a_cursor_stands_for_so_many_whole_numbers_or_is_refused(plain: str, count: int) -> None:
    parts = plain.split(".")
    if len(parts) == count and all(set(part) <= DIGITS and part and int(part) <= MAX_NUMBER for part in parts):
        assert numbers_of(packed(plain), count) == tuple(map(int, parts))
    else:
        refused(packed(plain), count)


@pytest.mark.parametrize(
    "plain", ["", "7.", ".7", "-1", "+7", " 7", "7\n", "1_0", ARABIC_7, "1e3", str(MAX_NUMBER + 1), "0" * 21]
)
def test_what_stands_for_no_number_is_refused(plain: str) -> None:
    refused(packed(plain), 1)


def test_a_cursor_that_was_tampered_with_is_refused_or_stands_for_other_numbers() -> None:
    cursor = cursor_of(123_456, 789)
    changed = {cursor[:at] + new + cursor[at + 1 :] for at in range(len(cursor)) for new in (*SIGNS, "")} - {cursor}
    taken = {text: numbers for text in changed if (numbers := taken_for(text, 2)) is not None}
    assert 50 < len(taken) < len(changed) - 50
    assert all(0 <= number <= MAX_NUMBER for numbers in taken.values() for number in numbers)
    assert len(set(taken.values())) > 20


def test_a_cursor_that_was_cut_off_never_stands_for_as_many_numbers() -> None:
    cursor = cursor_of(123_456, 789)
    for length in range(len(packed("123456."))):
        refused(cursor[:length], 2)


def test_a_cursor_of_another_list_is_refused() -> None:
    refused(cursor_of(1), 3)
    refused(cursor_of(1, 2, 3), 1)


def refused(cursor: str, count: int) -> None:
    with pytest.raises(BadInput) as caught:
        numbers_of(cursor, count)
    assert caught.value.field == "cursor"


def taken_for(cursor: str, count: int) -> tuple[int, ...] | None:
    with suppress(BadInput):
        return numbers_of(cursor, count)
    return None
