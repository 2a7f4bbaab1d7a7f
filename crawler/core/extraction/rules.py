"""Extraction rules: the fields to read from every page; parsing, checking and writing them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from crawler.core.errors import BadInput
from crawler.core.text.patterns import check_pattern
from crawler.core.text.sanitize import short_repr

MAX_RULES = 50
MAX_SELECTOR = 500  # characters
MAX_PATTERN = 500  # characters
WHAT = ("text", "html")
TYPES = ("text", "number", "integer", "date", "url", "boolean")

_RULE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
_ATTRIBUTE = re.compile(r"[^\s\"'<>/=\0]{1,100}")  # https://html.spec.whatwg.org/#attributes-2


class FieldRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field: what selects it, in CSS or in XPath, and how its value is made."""

    name: str  # of the column
    selector: str = ""  # CSS
    xpath: str = ""  # in its place
    what: str = "text"  # of the element: its "text", or its "html"
    attribute: str = ""  # take this attribute in place of both
    many: bool = False  # a list of all matches; else the first
    pattern: str = ""  # the value is the match of this regular expression: its first group, or all of it
    type: str = "text"  # of the value, one of TYPES


def check_rules(field: str, rules: Sequence[FieldRule]) -> None:
    """BadInput naming the first invalid rule and its part."""
    if len(rules) > MAX_RULES:
        raise BadInput(field, f"Enter at most {MAX_RULES} extraction rules, not {len(rules)}.")
    taken = set[str]()
    for place, rule in enumerate(rules, start=1):
        _check(field, f"Rule {place} ({short_repr(rule.name)})", rule)
        if rule.name.lower() in taken:
            raise BadInput(
                field, f"Rule {place} ({short_repr(rule.name)}), name: another rule has the same name; rename one."
            )
        taken.add(rule.name.lower())


def _check(field: str, who: str, rule: FieldRule) -> None:
    if not _RULE_NAME.fullmatch(rule.name):
        raise BadInput(
            field,
            f"{who}, name: begin with a letter, and use only letters, digits and _, at most 50.",
        )
    if rule.selector and rule.xpath:
        raise BadInput(field, f"{who}: enter a selector or an xpath, not both.")
    if rule.xpath:
        _check_xpath(field, f"{who}, xpath", rule.xpath)
    else:
        check_selector(field, f"{who}, selector", rule.selector)
    if rule.what not in WHAT:
        raise BadInput(field, f"{who}, what: it can be {' or '.join(WHAT)}, not {short_repr(rule.what)}.")
    if rule.attribute and not _ATTRIBUTE.fullmatch(rule.attribute):
        raise BadInput(field, f"{who}, attribute: {short_repr(rule.attribute)} is not an attribute name, such as href.")
    if rule.attribute and rule.what != "text":
        raise BadInput(field, f"{who}: extract its {rule.what} or an attribute, not both.")
    if rule.type not in TYPES:
        raise BadInput(field, f"{who}, type: it can be {', '.join(TYPES)}; not {short_repr(rule.type)}.")
    if rule.many and rule.type == "boolean":
        raise BadInput(
            field, f"{who}, many: a boolean has one value, which tells whether anything matches; leave out many."
        )
    if len(rule.pattern) > MAX_PATTERN:
        raise BadInput(field, f"{who}, pattern: it is longer than {MAX_PATTERN} characters.")
    try:
        check_pattern(field, rule.pattern)
    except BadInput as error:
        raise BadInput(field, f"{who}, pattern: {error.message}") from None


def check_selector(field: str, who: str, selector: str) -> None:
    import soupsieve  # it imports BeautifulSoup, which a tick of a crawl without rules does not need

    if not selector.strip():
        raise BadInput(field, f"{who}: it is empty; enter a CSS selector such as h1 or .price.")
    if len(selector) > MAX_SELECTOR:
        raise BadInput(field, f"{who}: it is longer than {MAX_SELECTOR} characters.")
    try:
        soupsieve.compile(selector)
    except (soupsieve.SelectorSyntaxError, NotImplementedError, ValueError, RecursionError) as error:
        raise BadInput(field, f"{who}: {selector!r} is invalid: {_reason(selector, error)}") from None


def _check_xpath(field: str, who: str, expression: str) -> None:
    from crawler.core.extraction.xpath import check_xpath  # which loads BeautifulSoup and lxml

    if len(expression) > MAX_SELECTOR:
        raise BadInput(field, f"{who}: it is longer than {MAX_SELECTOR} characters.")
    check_xpath(field, who, expression)


def _reason(selector: str, error: Exception) -> str:
    if selector.lstrip("( ").startswith(("/", "./")):
        return "it looks like XPath; write it as `xpath: //h1` in place of `selector`."
    if "::" in selector:
        return (
            'remove the part from "::"; the text is extracted by default, and `attribute: href` extracts an attribute.'
        )
    first = (str(error) or "it is nested too deeply").splitlines()[0].rstrip(".:")
    return f"{first[:1].lower()}{first[1:]}."


# The text form of rules, in YAML or JSON.

MAX_TEXT = 100_000  # characters

EXAMPLE = """\
- name: price
  selector: .product .price
  type: number
- name: pictures
  selector: .product img
  attribute: src
  type: url
  many: true
- name: sku
  selector: .product
  pattern: 'SKU: (\\w+)'
- name: stock
  xpath: //dt[. = "Stock"]/following-sibling::dd[1]
  type: integer
"""

_PARTS = tuple(FieldRule.__struct_fields__)
_SHAPE = "Write a list of rules, each with a name and a selector; or a mapping of names to selectors."


def rules_of(field: str, text: str) -> tuple[FieldRule, ...]:
    """The rules in this text, or BadInput. They are checked by `check_rules`.

    It is a list of mappings with the parts of a `FieldRule`, or a mapping of names to such mappings or to selectors.
    JSON is valid YAML.
    """
    parsed = _parsed(field, text)
    match parsed:
        case None:
            return ()
        case list():
            return tuple(_rule(field, place, None, rule) for place, rule in enumerate(parsed, start=1))
        case dict():
            return tuple(_rule(field, place, *pair) for place, pair in enumerate(parsed.items(), start=1))
        case _:
            raise BadInput(field, f"The text is not a list of extraction rules. {_SHAPE}")


def text_of(rules: tuple[FieldRule, ...]) -> str:
    """The rules as YAML, for editing; "" for none."""
    import yaml  # only when a user edits rules: a worker starts without it

    plain = [msgspec.to_builtins(rule) for rule in rules]
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True) if plain else ""


_NOT_ITS_TAG = "The extraction rules contain a value that does not match its tag (!!...)."


def _parsed(field: str, text: str) -> Any:
    import yaml  # only when a user writes rules: a worker starts without it

    from crawler.core.extraction.safe_yaml import SafeLoader  # which loads yaml

    if len(text) > MAX_TEXT:
        raise BadInput(field, f"The extraction rules are longer than {MAX_TEXT:,} characters.")
    try:
        return yaml.load(text, SafeLoader)  # noqa: S506 (a subclass of PyYAML's SafeLoader)
    except yaml.MarkedYAMLError as error:
        where = error.problem_mark or error.context_mark
        line = f"line {where.line + 1}: " if where else ""
        raise BadInput(field, f"The extraction rules are neither YAML nor JSON: {line}{error.problem}.") from None
    except (yaml.YAMLError, ValueError) as error:
        if str(error).startswith("chr()"):  # until Python 3.12 an OverflowError
            raise BadInput(field, _NOT_ITS_TAG) from None
        first = (str(error).splitlines() or ["a value cannot be read"])[0]
        raise BadInput(field, f"The extraction rules are neither YAML nor JSON: {first}.") from None
    except (LookupError, AttributeError, TypeError, OverflowError):  # PyYAML, for values that do not fit their tags
        raise BadInput(field, _NOT_ITS_TAG) from None


def _rule(field: str, place: int, name: Any, given: Any) -> FieldRule:
    if name is not None and isinstance(given, str):
        given = {"selector": given}
    if not isinstance(given, Mapping):
        raise BadInput(field, f"Rule {place} is not a mapping. {_SHAPE}")
    parts = {**given} if name is None else {"name": name, **given}
    who = f"Rule {place}" + (f" ({short_repr(parts['name'])})" if "name" in parts else "")
    for part, value in parts.items():
        _check_part(field, who, part, value)
    if "name" not in parts:
        raise BadInput(field, f"{who} has no name; each rule needs a name and a selector.")
    if "selector" not in parts and "xpath" not in parts:
        raise BadInput(field, f"{who} has no selector; each rule needs a name and a selector, or an xpath.")
    return FieldRule(**parts)


def _check_part(field: str, who: str, part: Any, value: Any) -> None:
    if part not in _PARTS:
        raise BadInput(field, f"{who}: unknown part {short_repr(part)}; a rule can have {', '.join(_PARTS)}.")
    if part == "many":
        if not isinstance(value, bool):
            raise BadInput(field, f"{who}, many: it must be true or false, not {short_repr(value)}.")
    elif not isinstance(value, str):
        raise BadInput(field, f"{who}, {part}: it must be text, not {short_repr(value)}; put it in quotes.")
