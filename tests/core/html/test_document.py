"""The quick checks of a page before it is parsed find whatever the exact and slow ones find."""

from html.entities import html5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.core.html import document
from crawler.core.html.document import (
    _LEFT_OPEN,
    _MAY_BE_CROWDED,
    _MAY_BE_LEFT_OPEN,
    MAX_ATTRIBUTES,
    NAMES_UNCHECKED_BELOW,
    _may_be_crowded,
    document_of,
    few,
)
from crawler.core.html.links import extract
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

TAGS = (
    b"<em ",
    b"<EM\n",
    b"<b/",
    b"<code a=b>",
    b"<i class='x y'>",
    b"<strong>",
    b"<font size=1",
    b"<span>",
    b"<a x>",
    b"<p>",
)
ENDS = (b"</em>", b"</EM >", b"</Em>", b"</b>", b"</code\t>", b"</i>", b"</span>", b"</a>", b"</em", b"</")
PIECES = (b"<", b">", b'"', b"'", b"=", b" ", b"/", b"x", b"a=", b'a="b"', b"='c>'", b"\n", b"words", b"\xe9", b"<br>")
MARKUP = st.lists(st.sampled_from([*TAGS, *ENDS, *PIECES]), max_size=16).map(b"".join)


@given(MARKUP)
def test_a_style_that_is_left_open_is_found_by_the_automaton(html: bytes) -> None:
    exact = _LEFT_OPEN.search(html)
    found = _MAY_BE_LEFT_OPEN.search(html)
    assert exact is None or (found is not None and found.start() <= exact.start())


@pytest.mark.parametrize(
    "html",
    [
        b"<p>words < and > words",
        b"<em>no attributes",
        b"<em class=a>words<br>and <a href='x y'>a link</a></em>",
        b'<CODE CLASS="a b=c"><span class=pre>x</span></CODE >',
        b"<i\nid=x title='\xe9'>words</i\n><img src=x><embed a=b><spanner x=y>",
    ],
)
def test_closed_styles_do_not_need_the_slow_check(html: bytes) -> None:
    assert not _MAY_BE_LEFT_OPEN.search(html)


def test_a_style_is_closed_by_its_end_tag_in_other_letters() -> None:
    assert document_of(filled(b"", b"<FONT color=c%d>words</font><p>", b"", 150_000)).is_whole
    assert not document_of(filled(b"", b"<FONT color=c%d>words</fond><p>", b"", 150_000)).is_whole


@given(MARKUP)
def test_a_quoted_tag_end_is_found_by_the_quick_check(html: bytes) -> None:
    assert _may_be_crowded(html) is bool(_MAY_BE_CROWDED.search(html))


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("before", [0, 1, 2 * MAX_ATTRIBUTES - 1, 2 * MAX_ATTRIBUTES, 7001])
def test_a_long_tag_is_found_wherever_it_begins(before: int, missing: int) -> None:
    tag = b"<a" + b" " * (2 * MAX_ATTRIBUTES - 2 - missing)
    for around in (b">" * before, (b"x" * 999 + b">") * (before // 1000) + b">" * (before % 1000)):
        assert _may_be_crowded(around + tag + b">" + around) is (not missing)


GROWING = [name for name, text in html5.items() if len(text.encode()) > len(f"&{name}")]


def test_two_character_references_become_longer() -> None:
    assert sorted(GROWING) == ["nGt;", "nLt;"]


@pytest.mark.parametrize("name", GROWING)
def test_the_parser_gets_no_reference_that_it_has_no_room_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    def parser(html: bytes) -> LexborHTMLParser:
        parsed.append(html)
        return LexborHTMLParser(html)

    monkeypatch.setattr(document, "LexborHTMLParser", parser)
    page = f"<p title='&{name}'>&{name} &amp;{name} &gt;" * 10_000
    tree = document_of(page).tree
    assert tree.body is not None
    assert f"&{name}".encode() not in parsed[0].replace(b"&amp;", b"")
    assert tree.body.text() == f"{html5[name]} &{name} >" * 10_000
    assert tree.body.first_child.attributes["title"] == html5[name]  # type: ignore[union-attr]  # it has one


PAGE = "https://example.com/"


def test_a_flood_of_names_takes_no_longer_than_its_length_says() -> None:
    flood = b"<a x%d>"
    grown = climb(lambda html: extract(html, PAGE), lambda size: filled(b"", flood, b"", size), 2_000_000, 4.0)
    assert not grown.fault


def test_links_and_titles_outlast_a_flood() -> None:
    flood = b"".join(b"<p x%d y%d='z' class=a%d>" % (number, number, number) for number in range(30_000))
    page = extract(b"<title>T</title><base href=/b/><a q HREF='c'>d</a>" + flood + b'<a x="1" href="e>">f', PAGE)
    assert (page.title, page.links[0]) == ("T", "https://example.com/b/c")


def test_a_long_page_with_usual_names_stays_as_it_is() -> None:
    part = b'<p class="a b%d" id=c%d data-x=\'d%d\'>some words > and, <a href="/e%d" title="more words %d">f</a></p>\n'
    page = b"".join(part.replace(b"%d", b"%d" % number) for number in range(12_000))
    assert len(page) > NAMES_UNCHECKED_BELOW
    assert few(page) is page


def test_a_short_page_is_not_looked_at() -> None:
    page = b"".join(b"<a x%d>" % number for number in range(1000))
    assert few(page) is page
