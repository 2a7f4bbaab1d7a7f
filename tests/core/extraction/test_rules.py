"""Extraction rules as people write them: what is taken, and what is refused with a word on which part is wrong."""

import json

import pytest

from crawler.core.errors import BadInput
from crawler.core.extraction.rules import EXAMPLE, MAX_RULES, FieldRule, check_rules, rules_of, text_of
from crawler.core.options.catalogue import CrawlOptions, check_options


def rule(**parts: object) -> FieldRule:
    return FieldRule(**{"name": "a", "selector": "p", **parts})  # type: ignore[arg-type]


def refused(*rules: FieldRule) -> str:
    with pytest.raises(BadInput) as caught:
        check_rules("fields", rules)
    assert caught.value.field == "fields"
    return caught.value.message


def unread(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        rules_of("fields", text)
    return caught.value.message


def test_the_example_can_be_used() -> None:
    rules = rules_of("fields", EXAMPLE)
    check_rules("fields", rules)
    assert [rule.name for rule in rules] == ["price", "pictures", "sku", "stock"]


@pytest.mark.parametrize(
    "text",
    [
        "- {name: a, selector: p}",
        "a: p",
        "a: {selector: p}",
        json.dumps([{"name": "a", "selector": "p"}]),
        json.dumps({"a": "p"}),
    ],
)
def test_a_rule_can_be_written_in_several_ways(text: str) -> None:
    assert rules_of("fields", text) == (rule(),)


def test_nothing_typed_means_no_rules() -> None:
    assert rules_of("fields", " \n# none yet\n") == ()


def test_rules_come_back_as_they_were() -> None:
    rules = (rule(many=True, type="url", attribute="href"), rule(name="b", pattern=r"\d: 'x' #"))
    assert rules_of("fields", text_of(rules)) == rules
    assert text_of(()) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- name: a\n  selector: [", "neither YAML nor JSON: line 2"),
        ("just words", "The text is not a list of extraction rules"),
        ("- p", "Rule 1 is not a mapping"),
        ("- name: a", "Rule 1 ('a') has no selector"),
        ("- selector: p", "Rule 1 has no name"),
        ("- {name: a, selector: p, css: x}", "unknown part 'css'; a rule can have name, selector, xpath"),
        ("- {name: a, selector: p, many: 2}", "Rule 1 ('a'), many: it must be true or false, not 2"),
        ("- {name: no, selector: p}", "name: it must be text, not False; put it in quotes"),
        ("- {name: a, name: b, selector: p}", "'name' occurs twice"),
        ("- &x [*x]", "anchors (&) and aliases (*) are not supported"),
        ("[" * 5000, "nested too deeply"),
        ("a: " + "p" * 100_001, "longer than 100,000"),
        ("a: !!python/object/apply:os.system [ls]", "neither YAML nor JSON"),
        ("\0", "neither YAML nor JSON"),
        ("a: !!timestamp x", "does not match its tag"),
        ("a: !!bool x", "does not match its tag"),
        ("a: !!int ''", "does not match its tag"),
        ('"\\UFFFFFFFF"', "does not match its tag"),
        ("- {name: 0x" + "f" * 5000 + "}", "it must be text, not so long a number"),
        ("- {name: " + "1:" * 5000 + "1}", "it must be text, not so long a number"),
        ("- {name: [" + "x, " * 500 + "]}", "…; put it in quotes"),
    ],
)
def test_what_is_no_rules_is_told_with_its_place(text: str, said: str) -> None:
    assert said in unread(text)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"name": "2a"}, "Rule 1 ('2a'), name: begin with a letter"),
        ({"name": "a" * 51}, "at most 50"),
        ({"selector": " "}, "selector: it is empty"),
        ({"selector": "p["}, "selector: 'p[' is invalid: malformed"),
        ({"selector": "a::attr(href)"}, "`attribute: href` extracts an attribute"),
        ({"selector": "p" * 501}, "longer than 500"),
        ({"selector": ":is(" * 120}, "is invalid"),
        ({"selector": "//h1"}, "write it as `xpath: //h1`"),
        ({"xpath": "//h1"}, "enter a selector or an xpath, not both"),
        ({"selector": "", "xpath": "//h1["}, "xpath: '//h1[' is invalid: invalid expression."),
        ({"selector": "", "xpath": "\0"}, "is invalid"),
        ({"selector": "", "xpath": "/" * 501}, "longer than 500"),
        ({"selector": "", "xpath": "document('x')//a"}, "XPath 1.0 has no function document()"),
        ({"selector": "", "xpath": "re:test(//a, 'x')"}, "XPath 1.0 has no function re:test()"),
        ({"selector": "", "xpath": "//svg:path"}, "prefixes are not supported"),
        ({"selector": "", "xpath": "//a[$b]"}, "variables ($) are not supported"),
        ({"what": "words"}, "what: it can be text or html, not 'words'"),
        ({"attribute": "a b"}, "attribute: 'a b' is not an attribute name"),
        ({"attribute": "href", "what": "html"}, "extract its html or an attribute, not both"),
        ({"type": "money"}, "type: it can be text, number, integer, date, url, boolean; not 'money'"),
        ({"type": "boolean", "many": True}, "many: a boolean has one value"),
        ({"pattern": "("}, "pattern: '(' is not a valid regular expression"),
        ({"pattern": "(?=x)"}, "lookahead is not supported"),
        ({"pattern": "x{1000}" * 5}, "too large a regular expression"),
        ({"pattern": "x" * 501}, "pattern: it is longer than 500"),
    ],
)
def test_the_part_that_cannot_be_used_is_named(parts: dict[str, object], said: str) -> None:
    assert said in refused(rule(**parts))


@pytest.mark.parametrize(
    "xpath",
    [
        "//h1",
        "child::p/descendant-or-self::node()",
        "//a[contains(., '$x:y(')]/@href",
        "//a and (count(//p) or (2 div (1 mod 2)))",
        "//processing-instruction('x')|//comment ()",
    ],
)
def test_xpath_takes_the_place_of_a_selector(xpath: str) -> None:
    rules = rules_of("fields", json.dumps([{"name": "a", "xpath": xpath}]))
    check_rules("fields", rules)
    assert rules == (FieldRule(name="a", xpath=xpath),)
    assert rules_of("fields", text_of(rules)) == rules


def test_two_rules_cannot_have_one_name() -> None:
    assert "Rule 2 ('A'), name: another rule has the same name" in refused(rule(), rule(name="A"))


def test_there_are_not_too_many() -> None:
    assert "at most 50 extraction rules, not 51" in refused(
        *(rule(name=f"a{number}") for number in range(MAX_RULES + 1))
    )


def test_the_options_of_a_crawl_are_judged_with_its_rules_and_come_back_from_json() -> None:
    options = CrawlOptions(fields=(rule(type="number"),), keep=("html", "warc"))
    assert check_options(CrawlOptions.from_plain(json.loads(json.dumps(options.to_plain())))) == options
    with pytest.raises(BadInput, match="Rule 1"):
        check_options(CrawlOptions(fields=(rule(selector="["),)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (CrawlOptions(keep=("epub",)), "html, text, markdown, warc, screenshot, pdf; not as 'epub'"),
    ],
)
def test_what_cannot_be_kept_is_refused(options: CrawlOptions, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        check_options(options)
    assert caught.value.field == "keep"
