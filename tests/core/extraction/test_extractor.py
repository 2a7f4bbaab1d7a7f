"""Fields are read from pages as rules say; what goes wrong is a note, on any page, in bounded time."""

from typing import Any

import pytest

from crawler.core.extraction import extractor
from crawler.core.extraction.extractor import Extraction, FieldFault, FieldProblem, extract
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.core.options.catalogue import CrawlOptions

URL = "https://example.com/shop/item"
PAGE = """<!doctype html><base href="/pictures/"><script type="application/ld+json">{"sku": "ab1"}</script>
<div class="product big"><h1>A   <b>blue</b>
kettle</h1><!-- not seen --><script>var x;</script>
<span class=price>EUR 1.234,50</span> <span class=price>20</span><img src=a.png alt><img src="b.png?x=1&amp;y=2"></div>
<table><tr><td>cell</table><p>"""


def read(html: str = PAGE, **parts: Any) -> Extraction:
    rules = (FieldRule(**{"name": "a", "selector": "p", **parts}),)
    check_rules("fields", rules)
    return extract(html.encode(), URL, rules)


def value(**parts: Any) -> Any:
    found = read(**parts)
    assert found.problems == {}
    return found.values["a"]


def test_text_is_what_a_reader_sees() -> None:
    assert value(selector="h1") == "A blue kettle"
    assert value(selector="div") == "A blue kettle EUR 1.234,50 20"


def test_of_a_script_that_is_asked_for_its_text_is_told() -> None:
    assert value(selector="[type='application/ld+json']", pattern='"sku": "([^"]*)"') == "ab1"


def test_the_first_is_taken_or_many() -> None:
    assert value(selector=".price", type="number") == 1234.5
    assert value(selector=".price", type="number", many=True) == [1234.5, 20]


def test_an_attribute_is_taken_where_it_is() -> None:
    assert value(selector="img", attribute="src", type="url", many=True) == [
        "https://example.com/pictures/a.png",
        "https://example.com/pictures/b.png?x=1&y=2",
    ]
    assert value(selector="div", attribute="class") == "product big"
    assert value(selector="img", attribute="alt") == ""
    assert value(selector="img", attribute="title") is None


def test_html_is_taken_as_it_stands() -> None:
    assert value(selector="b", what="html") == "<b>blue</b>"


def test_a_pattern_takes_its_first_group_or_all_it_finds() -> None:
    assert value(selector="h1", pattern=r"b\w+") == "blue"
    assert value(selector="h1", pattern=r"b(\w+)") == "lue"


def test_a_boolean_says_whether_anything_is_found() -> None:
    assert value(selector=".price", type="boolean") is True
    assert value(selector=".sold-out", type="boolean") is False
    assert value(selector="h1", pattern="red", type="boolean") is False


def test_what_is_not_there_is_nothing_and_no_mistake() -> None:
    assert value(selector="h6") is None
    assert value(selector="h6", many=True) == []
    assert value(selector="p") == ""


def test_selectors_see_the_tree_a_browser_makes() -> None:
    assert value(selector="table > tbody > tr > td") == "cell"


@pytest.mark.parametrize(
    ("parts", "kept", "fault", "text"),
    [
        ({"selector": "h1", "pattern": "red"}, None, FieldFault.NO_MATCH, ""),
        ({"selector": "h1", "type": "number"}, None, FieldFault.NO_NUMBER, "A blue kettle"),
        ({"selector": "span, h1", "type": "number", "many": True}, [1234.5, 20], FieldFault.NO_NUMBER, "A blue kettle"),
    ],
)
def test_a_mistake_is_a_problem(parts: dict[str, Any], kept: Any, fault: FieldFault, text: str) -> None:
    found = read(**parts)
    assert found.values["a"] == kept
    assert found.problems["a"] == FieldProblem(fault, text)


def test_values_are_cut_in_length_and_number() -> None:
    long = read(f"<p>{'x' * 20_000}")
    assert (len(long.values["a"]), long.problems["a"].fault) == (extractor.MAX_VALUE, FieldFault.CUT)
    many = read("<p>x" * 300, many=True)
    assert (len(many.values["a"]), many.problems["a"].fault) == (200, FieldFault.VALUES)
    much = read(f"<p>{'x' * 10_000}" * 30, many=True)
    assert (len(much.values["a"]), much.problems["a"].fault) == (20, FieldFault.CHARACTERS)


@pytest.mark.parametrize("html", ["<i>" * 20_001, f"<p>{'x' * extractor.MAX_BYTES}"])
def test_a_page_too_large_is_not_read_and_says_so(html: str) -> None:
    found = read(html)
    assert (found.values, found.problems) == ({"a": None}, {"a": FieldProblem(FieldFault.PAGE_TOO_LARGE)})


@pytest.mark.parametrize(
    "parts",
    [
        {"selector": "div", "many": True},
        {"selector": "div", "many": True, "what": "html"},
        {"selector": "div:-soup-contains('y')"},
    ],
)
def test_work_that_grows_too_large_ends_and_the_other_rules_have_theirs(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extractor, "STEPS_PER_PAGE", 100_000)
    rules = (FieldRule(name="a", **parts), FieldRule(name="b", selector="p"))
    found = extract(b"<div>" * 2000 + b"<p>x", URL, rules)
    assert (found.values, found.problems) == ({"a": None, "b": "x"}, {"a": FieldProblem(FieldFault.TOO_SLOW)})


def test_every_loop_over_a_page_is_counted() -> None:
    """A selector that looks at every element takes at least as many steps."""
    for selector in ("b", "b p", "p > b", "p ~ b", "p:nth-child(2n)", "p:has(b)", ":not(p) b", "p:empty"):
        page = extractor._Page(extractor.bs4.BeautifulSoup("<p>x" * 100, "html.parser"), URL)
        page._budget.grant(100_000)
        list(
            page._texts(
                extractor._Rule(FieldRule(name="a", selector=selector), extractor.soupsieve.compile(selector), None)
            )
        )
        assert page._budget.left <= 99_900, selector


def test_odd_pages_do_no_harm() -> None:
    for html in ("", "\0", "<", "<!DOCTYPE", "<![CDATA[", "<!--" * 1000, "<a " * 1000, "&#x110000;", "<p>\ud800"):
        found = extract(html.encode("utf-8", "replace"), URL, (FieldRule(name="a", selector="p"),))
        assert set(found.values) == {"a"}


def test_the_columns_are_the_names_in_their_order() -> None:
    options = CrawlOptions(fields=(FieldRule(name="z", selector="p"), FieldRule(name="a", selector="p")))
    assert extractor.names(options) == ["z", "a"]


@pytest.mark.parametrize(
    ("selector", "html"),
    [
        ("p:lang(en)", b'<div lang="' + b"a-" * 50_000 + b'">' + b"<p>" * 2000),
        (":dir(rtl)", b"<div dir=auto>" * 300 + b"1" * 100_000),
        (":-soup-contains('y')", b"<div>" * 300 + b"x" * 300_000),
        (":-soup-contains-own('y')", b"<p>" + b"x" * 300_000),
        (",".join(["[z]"] * 100), (b"<p " + b" ".join(b"a%d" % number for number in range(900)) + b">") * 30),
        (",".join(["[a*=b]"] * 70), (b"<p a=" + b"x" * 50_000 + b">") * 20),
        (",".join([".b"] * 160), (b'<p class="' + b"x " * 30_000 + b'">') * 20),
    ],
)
def test_long_texts_and_many_attributes_are_counted_too(
    selector: str, html: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extractor, "STEPS_PER_PAGE", 10_000)
    found = extract(html, URL, (FieldRule(name="a", selector=selector),))
    assert found.problems == {"a": FieldProblem(FieldFault.TOO_SLOW)}
