"""XPath of extraction rules: the same values as by CSS, nothing but the page can be read, and any expression ends."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawler.core.extraction import extractor
from crawler.core.extraction.extractor import extract
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.fetcher.xpath import evaluator
from crawler.fetcher.xpath.evaluator import PROGRAM, Evaluator
from crawler.reports.extraction_text import notes_of

URL = "https://example.com/shop/item"
PAGE = """<!doctype html><base href="/pictures/"><script type="application/ld+json">{"sku": "ab1"}</script>
<div class="product  big" title=" a  b "><h1>A   <b>blue</b>
kettle</h1><!-- not -- seen ---><script>var x;</script>
<span class=price>EUR 1.234,50</span> <span class=price>20</span><img src=a.png alt><img src="b.png?x=1&amp;y=2"></div>
<dl><dt>Colour</dt><dd>red</dd><dt>Stock</dt><dd> 12
pieces</dd></dl><time>12 March 2026</time><svg><circle r=1 /></svg><o:p @click=go a"b=1>odd</o:p>
<table><tr><td>cell</table><p>"""
DEEP = "<div>" * 300 + "<p>x</p>" * 8000


@pytest.fixture(scope="module")
def evaluate() -> Iterator[Evaluator]:
    """For one test after another: its process takes a fifth of a second to start."""
    with closing(Evaluator()) as shared:
        yield shared


@pytest.fixture
def own() -> Iterator[Evaluator]:
    with closing(Evaluator()) as own:
        yield own


def value(evaluate: Evaluator, html: str = PAGE, **parts: Any) -> Any:
    rules = (FieldRule(**{"name": "a", **parts}),)
    check_rules("fields", rules)
    found = extract(html.encode(), URL, rules, evaluate)
    assert found.problems == {}
    return found.values["a"]


@pytest.mark.parametrize(
    ("selector", "xpath", "parts"),
    [
        ("h1", "//h1", {}),
        ("h1", "//h1", {"what": "html"}),
        ("div", "//div", {}),
        ("div", "//div", {"attribute": "class"}),
        ("div", "//div", {"attribute": "title"}),
        ("img", "//img", {"attribute": "alt"}),
        ("h6", "//h6", {}),
        ("h6", "//h6", {"many": True}),
        ("p", "//p", {}),
        (".price", "//*[@class='price']", {"type": "number", "many": True}),
        (".price", "//*[@class='price']", {"type": "number"}),
        (".price", "//*[@class='price']", {"type": "boolean"}),
        (".sold-out", "//*[@class='sold-out']", {"type": "boolean"}),
        ("time", "//time", {"type": "date"}),
        ("img", "//img", {"attribute": "src", "type": "url", "many": True}),
        ("h1", "//h1", {"pattern": r"b(\w+)"}),
        ("[type]", "//*[@type]", {"pattern": '"sku": "([^"]*)"'}),
        ("table > tbody > tr > td", "//table/tbody/tr/td", {}),
        ("dt + dd", "//dt/following-sibling::dd[1]", {"many": True}),
        ("svg > circle", "//svg/circle", {"attribute": "r"}),
    ],
)
def test_equivalent_rules_find_the_same(evaluate: Evaluator, selector: str, xpath: str, parts: dict[str, Any]) -> None:
    by_css = value(evaluate, selector=selector, **parts)
    assert value(evaluate, xpath=xpath, **parts) == by_css
    if "attribute" in parts and parts.get("type") is None:
        assert value(evaluate, xpath=f"{xpath}/@{parts['attribute']}") == value(
            evaluate, selector=selector, attribute=parts["attribute"]
        )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"xpath": "//h1/text()"}, "A"),
        ({"xpath": "//h1//text()", "many": True}, ["A", "blue", "kettle"]),
        ({"xpath": "//dt[. = 'Stock']/following-sibling::dd[1]", "type": "integer"}, 12),
        (
            {"xpath": "//img/@src", "type": "url", "many": True, "pattern": "^a.*"},
            ["https://example.com/pictures/a.png"],
        ),
        ({"xpath": "count(//img)", "type": "integer"}, 2),
        ({"xpath": "count(//img) div 4", "type": "number"}, 0.5),
        ({"xpath": "number(//h1)", "type": "number"}, None),
        ({"xpath": "substring-before(//dd[2], 'p')"}, "12"),
        ({"xpath": "//img and not(//form)"}, "true"),
        ({"xpath": "//form"}, None),
        ({"xpath": "//form or //h6", "type": "boolean"}, False),
        ({"xpath": "//img or //h6", "type": "boolean"}, True),
        ({"xpath": "//comment()"}, "not ‐- seen ‐"),  # noqa: RUF001 (a hyphen that XML allows)
        ({"xpath": "//o_p/@_click"}, "go"),
        ({"xpath": "//o_p/@a_b"}, "1"),
        ({"xpath": "//b | //td", "many": True}, ["blue", "cell"]),
        ({"xpath": "//td/ancestor::*[1]", "what": "html"}, "<tr><td>cell</td></tr>"),
        ({"xpath": "/html/body/div/h1/b"}, "blue"),
    ],
)
def test_texts_attributes_and_computed_values_are_taken(
    evaluate: Evaluator, parts: dict[str, Any], expected: Any
) -> None:
    assert value(evaluate, **parts) == expected


@pytest.mark.parametrize(
    "html", ["", "\0", "<", "<!--", "<?xml version='1.0'?>", "&#x1;&#xb;", "<p>\x0c\ud800</p>", "<é à=ü>"]
)
def test_odd_pages_do_no_harm(evaluate: Evaluator, html: str) -> None:
    found = extract(html.encode("utf-8", "replace"), URL, (FieldRule(name="a", xpath="//text()|//@*|//*"),), evaluate)
    assert found.problems == {}


def test_entities_that_a_page_declares_are_its_text(evaluate: Evaluator, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    html = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><p>&x;</p>'
    assert value(evaluate, html, xpath="//p") == "&x;"


@pytest.mark.parametrize("function", ["document", "doc", "unparsed-text", "unparsed-entity-uri", "system-property"])
def test_there_is_no_function_that_reads_anything_else(evaluate: Evaluator, function: str, tmp_path: Path) -> None:
    """They are refused when a rule is checked; and one that was not checked finds none."""
    (tmp_path / "secret").write_text("<p>secret</p>")
    rule = FieldRule(name="a", xpath=f"{function}('{tmp_path}/secret')")
    found = extract(PAGE.encode(), URL, (rule,), evaluate)
    assert (found.values, notes_of(found)) == (
        {"a": None},
        {"a": "the XPath does not work on this page: Unregistered function"},
    )


def test_an_expression_that_takes_too_long_is_ended_and_the_others_have_their_time(
    evaluate: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "MIN_SECONDS", 0.1)
    monkeypatch.setattr(evaluator, "SECONDS_PER_PAGE", 0.3)
    rules = (
        FieldRule(name="first", xpath="count(//p)", type="integer"),
        FieldRule(name="long", xpath="//*[count(.//*[count(//*) > 1]) > 1]"),
        FieldRule(name="last", xpath="//p[2]"),
    )
    found = extract(DEEP.encode(), URL, rules, evaluate)
    assert found.values == {"first": 8000, "long": None, "last": "x"}
    assert notes_of(found) == {"long": "the selector or the pattern takes too long on this page"}


def test_an_expression_that_takes_too_much_memory_is_a_note(evaluate: Evaluator) -> None:
    html = "<p>" + "x" * 4_000_000
    rule = FieldRule(name="a", xpath=f"string-length(concat({','.join(['//p'] * 120)}))")
    found = extract(html.encode(), URL, (rule, FieldRule(name="b", xpath="count(//p)")), evaluate)
    assert "a" in found.problems or found.values["a"] == "480000000"
    assert found.values["b"] == "1"


def test_a_type_that_does_not_fit_is_a_note(evaluate: Evaluator) -> None:
    found = extract(PAGE.encode(), URL, (FieldRule(name="a", xpath="count('x')"),), evaluate)
    assert notes_of(found) == {"a": "the XPath does not work on this page: Invalid type"}


def test_values_are_bounded_in_length_and_number(evaluate: Evaluator) -> None:
    html = f"<p>{'x' * 20_000}</p>" + "<b>y</b>" * 300
    rules = (FieldRule(name="a", xpath="//p/text()"), FieldRule(name="b", xpath="//b/text()", many=True))
    found = extract(html.encode(), URL, rules, evaluate)
    assert (len(found.values["a"]), len(found.values["b"])) == (extractor.MAX_VALUE, 200)
    assert notes_of(found) == {"a": "cut after 10,000 characters", "b": "only the first 200 are kept"}


def test_one_process_evaluates_page_after_page_and_ends_with_its_owner(own: Evaluator) -> None:
    value(own, xpath="//h1")
    process = own._process
    value(own, xpath="//h1")
    assert process is not None
    assert own._process is process
    own.close()
    assert process.poll() is not None


def test_its_program_ends_when_nobody_is_left_to_ask() -> None:
    with subprocess.Popen((sys.executable, "-I", str(PROGRAM)), stdin=subprocess.PIPE) as program:
        assert program.stdin is not None
        program.stdin.close()
        assert program.wait(timeout=30) == 0


def test_a_fork_starts_a_process_of_its_own(own: Evaluator, monkeypatch: pytest.MonkeyPatch) -> None:
    value(own, xpath="//h1")
    first = own._process
    monkeypatch.setattr(own, "_owner", os.getpid() + 1)
    value(own, xpath="//h1")
    assert first is not None
    assert own._process is not first
    first.kill()
    first.wait()
    for pipe in (first.stdin, first.stdout):
        assert pipe is not None
        pipe.close()
