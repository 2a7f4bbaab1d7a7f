"""Extraction rules: what a person wants to have read from every page, and whether it can be."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from crawler.core.errors import BadInput
from crawler.core.patterns import check_pattern

MAX_RULES = 50
MAX_SELECTOR = 500  # characters
MAX_PATTERN = 500  # characters
MAX_SHOWN = 60  # characters of a value in a message
WHAT = ("text", "html")
TYPES = ("text", "number", "integer", "date", "url", "boolean")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
_ATTRIBUTE = re.compile(r"[^\s\"'<>/=\0]{1,100}")  # https://html.spec.whatwg.org/#attributes-2


class FieldRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One field: where on a page it stands, and what is taken from there."""

    name: str  # of the column
    selector: str  # CSS
    what: str = "text"  # of the element: its "text", or its "html"
    attribute: str = ""  # take this attribute in place of both
    many: bool = False  # a list of all that is found; else the first
    pattern: str = ""  # take what this regular expression finds: its first group, or all of it
    type: str = "text"  # what it is turned into, one of TYPES


def shown(value: object) -> str:
    """What was typed, in a message that stays short."""
    try:
        text = repr(value)
    except ValueError:  # a number of more digits than Python writes
        return "so long a number"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def check_rules(field: str, rules: Sequence[FieldRule]) -> None:
    """BadInput naming the first rule that cannot be used, and which part of it."""
    if len(rules) > MAX_RULES:
        raise BadInput(field, f"There are {len(rules)} extraction rules; a crawl can have {MAX_RULES} at most.")
    taken = set[str]()
    for place, rule in enumerate(rules, start=1):
        _check(field, f"Rule {place} ({shown(rule.name)})", rule)
        if rule.name.lower() in taken:
            raise BadInput(field, f"Rule {place} ({shown(rule.name)}), name: another rule has it; each needs its own.")
        taken.add(rule.name.lower())


def _check(field: str, who: str, rule: FieldRule) -> None:
    if not _NAME.fullmatch(rule.name):
        raise BadInput(
            field, f"{who}, name: it must begin with a letter and have letters, digits and _ alone, 50 at most."
        )
    _check_selector(field, who, rule.selector)
    if rule.what not in WHAT:
        raise BadInput(field, f"{who}, what: it can be {' or '.join(WHAT)}, not {shown(rule.what)}.")
    if rule.attribute and not _ATTRIBUTE.fullmatch(rule.attribute):
        raise BadInput(field, f"{who}, attribute: {shown(rule.attribute)} is not the name of one, such as href.")
    if rule.attribute and rule.what != "text":
        raise BadInput(field, f"{who}: take its {rule.what} or an attribute, not both.")
    if rule.type not in TYPES:
        raise BadInput(field, f"{who}, type: it can be {', '.join(TYPES)}; not {shown(rule.type)}.")
    if rule.many and rule.type == "boolean":
        raise BadInput(field, f"{who}, many: a boolean says whether anything is found, so there is one of it.")
    if len(rule.pattern) > MAX_PATTERN:
        raise BadInput(field, f"{who}, pattern: it is longer than {MAX_PATTERN} characters.")
    try:
        check_pattern(field, rule.pattern)
    except BadInput as error:
        raise BadInput(field, f"{who}, pattern: {error.message}") from None


def _check_selector(field: str, who: str, selector: str) -> None:
    import soupsieve  # it loads BeautifulSoup, which a tick of a crawl without rules does without

    if not selector.strip():
        raise BadInput(field, f"{who}, selector: it is empty; give a CSS selector such as h1 or .price.")
    if len(selector) > MAX_SELECTOR:
        raise BadInput(field, f"{who}, selector: it is longer than {MAX_SELECTOR} characters.")
    try:
        soupsieve.compile(selector)
    except (soupsieve.SelectorSyntaxError, NotImplementedError, ValueError, RecursionError) as error:
        raise BadInput(field, f"{who}, selector: {selector!r} cannot be used: {_reason(selector, error)}") from None


def _reason(selector: str, error: Exception) -> str:
    if "::" in selector:
        return 'leave out what begins with "::"; the text is taken anyway, and `attribute: href` takes an attribute.'
    first = (str(error) or "it is nested too deeply").splitlines()[0].rstrip(".:")
    return f"{first[:1].lower()}{first[1:]}."
