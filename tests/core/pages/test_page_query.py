"""What a query string asks of the table of pages, and what of it cannot be asked."""

from contextlib import suppress
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_field import Sort
from crawler.core.pages.page_query import PagesQuery, Show, Span, read


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


@given(
    st.dictionaries(
        st.sampled_from(["q", "show", "outcome", "status", "depth", "type", "sort", "after", "end"]),
        st.sampled_from(["", "4xx", "404", "3+", "3", "-size", "size", "dead-letters", "open", "text/", "1", " a "])
        | st.text(),
        max_size=2,
    )
)
@example({"status": "4xx", "depth": "3+"})
def test_whatever_is_typed_is_refused_or_can_be_said_again(typed: dict[str, str]) -> None:
    with suppress(BadInput):
        query = read({name: [value] for name, value in typed.items()})
        assert asked(urlencode(query.pairs())) == query
