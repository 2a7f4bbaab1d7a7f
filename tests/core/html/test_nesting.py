"""Pages whose elements are surely nested in few levels are known by their tags; the tree is the judge."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.core.html import nesting, scanned_page
from crawler.core.html.document import FEW_TAGS, MAX_TAGS, MOST_TAGS, document_of
from crawler.core.html.nesting import MAX_NESTING, MAX_SHALLOW_OPTIONS, judged_shallow
from tests.compiled import compiled
from tests.core.html.test_document import PIECES

DEEP = MAX_NESTING + 1


@pytest.mark.parametrize(
    "html",
    [
        "",
        "a < b",
        "<!DOCTYPE html><html><head><title>a <b></title></head><body class=x><p>words</p></body></html>",
        "<div a b=c d='e' f=\"g\" / h=i/></div>" * DEEP,
        "<DIV></div>" * DEEP,
        "<br><img src=x><input/>" * DEEP,
        "<!-- <div> --><!----><!x <div ?><?php ?>" * DEEP,
        "<script>'<div>' </scripts></script ><style>a > b</style><textarea><i></textarea>" * DEEP,
        "<svg><path></path></svg>" * DEEP,
        "<div>" * MAX_NESTING,
    ],
)
def test_it_judged_shallow(html: str) -> None:
    assert judged_shallow(html.encode())


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * DEEP,
        "<div></span>" * DEEP,  # ignored by parsers
        "<div><table></div>" * DEEP,  # so is this, within a table
        "<div><!--</div>-->" * DEEP,
        "<div><script></div></script>" * DEEP,
        "<div title='</div>'>" * DEEP,
        "<svg><link>" * DEEP,
        "<svg><path/>" * DEEP,
        "<p>" * DEEP,  # each ends the one before, but that takes a parser
        "<div\v></div>" * DEEP,  # of another name
        "<script><!--<script></script></div></script>",
        "<script>",
        "<svg><title><div></title></svg>",
        "<!-->",
        "<!--->",
        "<!-- x --!><div> -->",
        "<!-- x",
        "<![CDATA[ > ]]>",
        "</>",
        "<a b=c\"d>",
        "<a b = c>",
        "<a 'b>",
        "<a b=c=d>",
        "<a b=<c>",
        "<a b",
        "<plaintext>",
        "<option></option>" * (MAX_SHALLOW_OPTIONS + 1),
    ],
)  # fmt: skip
def test_it_is_deep_or_may_be(html: str) -> None:
    assert not judged_shallow(html.encode())


NAMES = (
    "div",
    "p",
    "b",
    "a",
    "table",
    "td",
    "svg",
    "script",
    "title",
    "br",
    "select",
    "template",
    "math",
    "li",
    "form",
)
MARKUP = st.lists(
    st.one_of(
        st.sampled_from([*(f"<{name}>" for name in NAMES), *(f"</{name}>" for name in NAMES)]),
        st.sampled_from(["<!--", "-->", "--!>", "<![CDATA[", "]]>", "<x a='", "'>", "<p a=b=c>", "<path/>", "x", "<"]),
        st.sampled_from([piece.decode("latin-1") for piece in PIECES]),
    ),
    max_size=30,
).map(lambda parts: "".join(parts).encode())


def depth(html: bytes) -> int:
    """Levels of the tree below <html>."""
    deepest, above = 0, [(LexborHTMLParser(html).root, 0)]
    while above:
        node, level = above.pop()
        deepest = max(deepest, level)
        above += [(child, level + 1) for child in node.iter()] if node is not None else []
    return deepest


@given(MARKUP, st.integers(0, 6))
def test_the_tree_of_a_shallow_page_is_no_deeper_than_twice_that(html: bytes, most: int) -> None:
    with pytest.MonkeyPatch.context() as low:
        low.setattr(nesting, "MAX_NESTING", most)
        copies = html.count(b"<b") + html.count(b"<a")  # a style left open is opened again in other elements
        assert not judged_shallow(html) or depth(html) <= (2 * most + 3) * (1 + copies)


@given(MARKUP, st.integers(0, 6))
def test_the_compiled_reader_decides_the_same(html: bytes, most: int) -> None:
    reader = scanned_page.scanner_of(
        compiled(), (0, MOST_TAGS, most, MAX_SHALLOW_OPTIONS, FEW_TAGS, 500, 500_000, 100_000, 500_000)
    )
    with pytest.MonkeyPatch.context() as low:
        low.setattr(nesting, "MAX_NESTING", most)
        page = html.replace(b"\0", b"") + b"<br>"
        assert reader.is_shallow(page) is judged_shallow(page)
        assert (reader.scan(page) == "too many tags") is not reader.is_shallow(page)


@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_long_page_of_few_levels_is_parsed_whole(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = scanned_page.scanner_of(compiled(), scanned_page._LIMITS) if is_compiled else None
    monkeypatch.setattr(nesting, "_compiled", reader and reader.is_shallow)
    row = b"<li><a href=x>y</a></li>"
    assert document_of(b"<ul>%s</ul>" % (row * (MAX_TAGS // 4 + 1))).is_whole
    assert not document_of(b"<ul>%s</ul>" % (row * (MOST_TAGS // 4 + 1))).is_whole
    assert not document_of(b"<ul>%s</ul>" % (b"<li><a href=x>y</a>" * (MAX_TAGS // 3 + 1))).is_whole
