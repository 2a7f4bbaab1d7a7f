"""Parameters without a meaning for the page are dropped by a list of names; nothing else of the URL changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise
from crawler.core.urls.query_params import (
    TRACKING_PARAMETERS,
    Parameters,
    check_parameter,
    chosen,
    looks_like_id,
    typed_for,
)

SITE = "https://example.com"
MD5 = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("/", "/"),
        ("/?a=1", "/?a=1"),
        ("/?utm_source=x", "/"),
        ("/?UTM_Source=x&a=1", "/?a=1"),
        ("/?a=1&gclid=2&b=3", "/?a=1&b=3"),
        ("/?b=1&&a=2&fbclid=3", "/?b=1&&a=2"),  # order and oddities stay
        ("/?gclid", "/"),
        ("/?xgclid=1", "/?xgclid=1"),
        (f"/viewtopic.php?t=5&sid={MD5}", "/viewtopic.php?t=5"),
        ("/news?sid=12", "/news?sid=12"),  # a number of something, not a session
        ("/?s=how+to+write+regular+expressions", "/?s=how+to+write+regular+expressions"),  # a search
        (f"/a;jsessionid={MD5}?b=1", "/a?b=1"),
        (f"/a;v=2;JSESSIONID={MD5}.node7/b", "/a;v=2/b"),
        ("/a/..;jsessionid=1/b", "/b"),
        ("/a;v=1", "/a;v=1"),
    ],
)
def test_the_usual_list(url: str, left: str) -> None:
    assert Parameters.of(TRACKING_PARAMETERS).without(SITE + url) == SITE + left


def test_an_empty_list_drops_nothing() -> None:
    assert Parameters.of(()).without(f"{SITE}/?utm_source=1&PHPSESSID={MD5}") == f"{SITE}/?utm_source=1&PHPSESSID={MD5}"


def test_a_star_alone_drops_the_whole_query() -> None:
    assert Parameters.of(("*",)).without(f"{SITE}/a?b=1&c=2") == f"{SITE}/a"


@pytest.mark.parametrize("entry", [*TRACKING_PARAMETERS, "*", "a.b", "filter[]"])
def test_names_pass(entry: str) -> None:
    check_parameter("drop_parameters", entry)


@pytest.mark.parametrize("entry", ["", "={id}", "a b", "a=b", "a&b", "a*b", "*a", "?a"])
def test_what_is_no_name_is_refused(entry: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_parameter("drop_parameters", entry)
    assert refused.value.field == "drop_parameters"


@pytest.mark.parametrize(
    ("value", "is_id"),
    [
        (MD5, True),
        (MD5.upper(), True),
        ("c7b0a6dl3k5fpk8g8tq5o1v2r4", True),  # PHP's
        ("1234567890123456", False),  # a number
        ("deadbeefdeadbeef", False),  # a word
        ("iphone-15-pro-max-256gb", False),
        ("internationalization2024", False),
        ("short1", False),
        ("", False),
    ],
)
def test_what_looks_like_an_id(value: str, is_id: bool) -> None:
    assert looks_like_id(value) is is_id


@given(
    st.text(alphabet="abcs=&?;/._*%id0123456789", max_size=40),
    st.lists(st.sampled_from(TRACKING_PARAMETERS), max_size=4),
)
def test_dropping_twice_is_dropping_once_and_gives_a_normalised_url(rest: str, entries: list[str]) -> None:
    url = normalise(f"{SITE}/{rest}")
    assert url is not None
    dropped = Parameters.of(entries).without(url)
    assert normalise(dropped) == dropped
    assert Parameters.of(entries).without(dropped) == dropped


@pytest.mark.parametrize(
    ("more", "keep_tracking", "dropped"),
    [
        ((), False, TRACKING_PARAMETERS),
        (("sid",), False, (*TRACKING_PARAMETERS, "sid")),
        (("sid",), True, ("sid",)),
        ((), True, ()),
        (("sid", "gclid", "sid"), False, (*TRACKING_PARAMETERS, "sid")),  # once is enough
    ],
)
def test_names_are_added_to_the_usual_ones_unless_those_are_kept(
    more: tuple[str, ...], keep_tracking: bool, dropped: tuple[str, ...]
) -> None:
    assert chosen(more, keep_tracking=keep_tracking) == dropped


@pytest.mark.parametrize(
    "dropped", [TRACKING_PARAMETERS, (*TRACKING_PARAMETERS, "sid"), ("sid",), (), ("utm_*", "sid")]
)
def test_what_was_chosen_can_be_typed_again(dropped: tuple[str, ...]) -> None:
    more, keep_tracking = typed_for(dropped)
    assert chosen(more, keep_tracking=keep_tracking) == dropped
