"""Applies extraction rules to a page with BeautifulSoup (CSS) or libxml2 (XPath), and converts the texts to values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

import bs4
import re2
import soupsieve
from bs4.element import NavigableString

from crawler.core.extraction.parse_limits import REGEX_STEP, Budget, OutOfSteps, selected
from crawler.core.extraction.rules import FieldRule
from crawler.core.extraction.xpath import Evaluate, TookTooLong, XPathResult, nodes_of
from crawler.core.html.document import MAX_TAGS, Document, document_of
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.urls.normalise import normalise

# Conversion of extracted texts: numbers, dates, URLs.

Value = str | int | float | bool | None

MAX_NUMBER_LENGTH = 40  # characters
_BLANK = "' \\u00a0\\u202f\\u2009"
_NUMBER = re.compile(
    rf"(?<![\w.,])[-+−]?(?:\d{{1,3}}(?:[{_BLANK}]\d{{3}})+(?:[.,]\d+)?|\d[\d.,]*\d|\d)(?:[eE][-+]?\d{{1,3}})?(?!\d)"  # noqa: RUF001
)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?P<mark>[,.])\d{3}(?:(?P=mark)\d{3})*")
_DATES = ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d", "%d.%m.%Y")


class FieldFault(StrEnum):
    """Why a field has no value, or only part of it; see `reports.extraction_text`."""

    PAGE_TOO_LARGE = "page_too_large"
    UNREADABLE = "unreadable"  # the page
    TOO_SLOW = "too_slow"
    NO_MATCH = "no_match"  # of the pattern
    XPATH = "xpath"  # cannot be evaluated; with the reason
    CHARACTERS = "characters"  # too many in all values of the page
    VALUES = "values"  # too many of this field
    CUT = "cut"  # a value
    NO_NUMBER = "no_number"
    NUMBERS = "numbers"  # several; with how many
    LONG_NUMBER = "long_number"
    NOT_A_NUMBER = "not_a_number"
    LARGE_NUMBER = "large_number"
    NOT_WHOLE = "not_whole"
    NO_DATE = "no_date"
    NO_URL = "no_url"


class FieldProblem(NamedTuple):
    """The fault of one field."""

    fault: FieldFault
    text: str = ""  # that was read
    number: int = 0


class NoValue(Exception):
    """The text is no value of the type."""

    def __init__(self, fault: FieldFault, text: str = "", number: int = 0) -> None:
        super().__init__(fault, text, number)
        self.problem = FieldProblem(fault, text, number)


def value_of(kind: str, text: str, base: str) -> Value:
    """The text as a value of this type, one of `rules.TYPES` but boolean. URLs are resolved against the normalised URL
    `base`. Raises NoValue."""
    match kind:
        case "number":
            return number_in(text)
        case "integer":
            return _whole(text)
        case "date":
            return date_in(text)
        case "url":
            return _url(text, base)
        case _:
            return text


def number_in(text: str) -> int | float:
    """The only number in this text, with any text around it ("EUR 1,234.50 each").

    1. Blanks and apostrophes before exactly three digits group them.
    2. Of a comma and a point the last is the decimal mark. One that comes twice groups.
    3. A lone comma before exactly three digits groups ("1,234"), else it is the decimal mark ("12,5"); a lone point is
       the decimal mark.
    """
    found = [match[0] for match in _NUMBER.finditer(text)]
    if not found:
        raise NoValue(FieldFault.NO_NUMBER, text)
    if len(found) > 1:
        raise NoValue(FieldFault.NUMBERS, text, len(found))
    if len(found[0]) > MAX_NUMBER_LENGTH:
        raise NoValue(FieldFault.LONG_NUMBER, text)
    try:
        number = float(_plain(found[0]))
    except ValueError:
        raise NoValue(FieldFault.NOT_A_NUMBER, found[0]) from None
    if not isfinite(number):
        raise NoValue(FieldFault.LARGE_NUMBER, found[0])
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def date_in(text: str) -> str:
    """The date as ISO 8601, with its time if it has one: "2026-03-12", "2026-03-12T09:30:00+00:00". Accepted are
    ISO 8601, RFC 5322 and a few common English formats of a day."""
    typed = text.strip()
    for read in (_iso_day, _iso_moment, _written_day, _mail_date):
        try:
            return read(typed)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    raise NoValue(FieldFault.NO_DATE, text)


def _whole(text: str) -> int:
    number = number_in(text)
    if not isinstance(number, int):
        raise NoValue(FieldFault.NOT_WHOLE, f"{number:g}")
    return number


def _url(text: str, base: str) -> str:
    url = normalise(text, base)
    if url is None:
        raise NoValue(FieldFault.NO_URL, text)
    return url


def _plain(number: str) -> str:
    """The number as `float` reads it."""
    text = re.sub(f"[{_BLANK}]", "", number).replace("−", "-")  # noqa: RUF001 (a minus sign)
    commas, points = text.count(","), text.count(".")
    if commas and points:
        decimal = max(text.rfind(","), text.rfind("."))
        return re.sub("[.,]", "", text[:decimal]) + "." + text[decimal + 1 :]
    if (commas or points > 1) and _GROUPED.fullmatch(text):
        return re.sub("[.,]", "", text)
    return text.replace(",", ".")


def _iso_day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def _iso_moment(text: str) -> str:
    return datetime.fromisoformat(text).isoformat()


def _written_day(text: str) -> str:
    for form in _DATES:
        try:
            return datetime.strptime(text, form).date().isoformat()  # noqa: DTZ007 (a day has no zone)
        except ValueError:
            continue
    raise ValueError(text)


def _mail_date(text: str) -> str:
    return parsedate_to_datetime(text).isoformat()


MAX_BYTES = 5 * 1024 * 1024  # of a page in UTF-8; from a larger one nothing is extracted
MAX_VALUE = 10_000  # characters
MAX_VALUES = 200  # of one field
MAX_TOTAL = 200_000  # characters of all values of a page
MAX_TEXT = 100_000  # characters of an element that are read
STEPS_PER_PAGE = 1_500_000  # shared by its rules; some seconds at worst

HTML_STEPS = 8  # writing an element as HTML takes so many times longer than visiting it


@dataclass(frozen=True)
class Extraction:
    """The fields of one page."""

    values: dict[str, Any]  # by name, of every rule: a value, a list of values, or None
    problems: dict[str, FieldProblem] = field(default_factory=dict)  # by name, of those with any


@dataclass(frozen=True)
class _Rule:
    """A compiled rule."""

    rule: FieldRule
    selector: soupsieve.SoupSieve | None  # None: it has an XPath
    pattern: Any  # of re2; None = no pattern


def names(options: CrawlOptions) -> list[str]:
    """The names of a crawl's fields, in the order of its rules and of the columns."""
    return [rule.name for rule in options.fields]


def nothing(rules: Sequence[FieldRule], fault: FieldFault) -> Extraction:
    """No value for any rule, for one reason."""
    return Extraction({rule.name: None for rule in rules}, {rule.name: FieldProblem(fault) for rule in rules})


def extract(
    html: bytes | Document, url: str, rules: tuple[FieldRule, ...], evaluate: Evaluate | None = None
) -> Extraction:
    """What these rules, which have passed `check_rules`, find on the page `html` (in UTF-8, or parsed) at the
    normalised `url`. `evaluate` is needed for rules with XPath.

    1. The page's tree is a browser's: selectors that work in a browser work here. BeautifulSoup is given that tree, so
       that its own parser never meets anything odd. XPath is evaluated elsewhere, on a copy of that tree.
    2. Each rule takes the first element its selector matches (or text, if its XPath selects that), or with `many` the
       first MAX_VALUES; of each its text (white space collapsed), its HTML or an attribute; of that what the pattern
       finds; and turns it into its type.
    3. A boolean says whether anything was found.
    4. What is not there is None, or an empty list; that is a problem only if it looks like a mistake.
    """
    if isinstance(html, bytes) and len(html) > MAX_BYTES:
        return nothing(rules, FieldFault.PAGE_TOO_LARGE)
    document = html if isinstance(html, Document) else document_of(html)
    if not document.is_whole or document.tags > MAX_TAGS or document.size > MAX_BYTES:
        return nothing(rules, FieldFault.PAGE_TOO_LARGE)
    try:
        tree = bs4.BeautifulSoup(document.tree.html or "", "html.parser")
    except (RecursionError, bs4.ParserRejectedMarkup):
        return nothing(rules, FieldFault.UNREADABLE)
    return _Page(tree, url, evaluate).extraction(_ready(rules))


class _Page:
    """The extraction of one page."""

    def __init__(self, tree: bs4.BeautifulSoup, url: str, evaluate: Evaluate | None = None) -> None:
        self._tree, self._base, self._evaluate = tree, _base_of(tree, url), evaluate
        self._elements: list[bs4.Tag] = []
        self._answers: dict[str, XPathResult] = {}  # by expression
        self._budget, self._room = Budget(), MAX_TOTAL
        self._values: dict[str, Any] = {}
        self._problems: dict[str, FieldProblem] = {}

    def extraction(self, rules: Sequence[_Rule]) -> Extraction:
        if expressions := list(dict.fromkeys(ready.rule.xpath for ready in rules if ready.rule.xpath)):
            assert self._evaluate is not None  # noqa: S101 (the caller's mistake)
            self._elements, nodes = nodes_of(self._tree)
            answers = self._evaluate(nodes, expressions, MAX_VALUES + 1, MAX_TEXT)
            self._answers = dict(zip(expressions, answers, strict=True))
        for ready in rules:
            self._budget.grant(STEPS_PER_PAGE // len(rules))
            name = ready.rule.name
            try:
                self._values[name] = self._found(ready)
            except OutOfSteps:
                self._values[name], self._problems[name] = None, FieldProblem(FieldFault.TOO_SLOW)
            except NoValue as none:
                self._values[name], self._problems[name] = None, none.problem
        return Extraction(self._values, self._problems)

    def _found(self, ready: _Rule) -> Any:
        rule = ready.rule
        if rule.type == "boolean":
            return any(text is not None for text in self._texts(ready))
        if rule.many:
            return self._many(ready)
        texts = list(self._texts(ready))
        if not texts:
            return None
        if texts[0] is None:
            raise NoValue(FieldFault.NO_MATCH)
        return self._value(rule, texts[0])

    def _many(self, ready: _Rule) -> list[Value]:
        """All values; invalid ones are skipped, and the first of them is a problem."""
        values: list[Value] = []
        for place, text in enumerate(self._texts(ready)):
            if place == MAX_VALUES:
                self._problems[ready.rule.name] = FieldProblem(FieldFault.VALUES)
            elif text is not None:
                try:
                    values.append(self._value(ready.rule, text))
                except NoValue as none:
                    self._problems.setdefault(ready.rule.name, none.problem)
        return values

    def _value(self, rule: FieldRule, text: str) -> Value:
        value = value_of(rule.type, text, self._base)
        if isinstance(value, str):
            if len(value) > MAX_VALUE:
                self._problems.setdefault(rule.name, FieldProblem(FieldFault.CUT))
                value = value[:MAX_VALUE]
            self._room -= len(value)
            if self._room < 0:
                raise NoValue(FieldFault.CHARACTERS)
        return value

    def _texts(self, ready: _Rule) -> Iterator[str | None]:
        """The text of each element; None if the pattern does not match."""
        limit = MAX_VALUES + 1 if ready.rule.many or ready.rule.type == "boolean" else 1
        if ready.selector is None:
            found = self._located(ready.rule)[:limit]
        else:
            found = [*selected(ready.selector, self._tree, self._budget, limit)]
        for item in found:
            text = item if isinstance(item, str) else self._text(item, ready.rule)
            if text is not None:
                yield self._matched(ready.pattern, text)

    def _located(self, rule: FieldRule) -> list[bs4.Tag | str]:
        """The elements and texts that its XPath selects."""
        answer = self._answers[rule.xpath]
        if isinstance(answer, TookTooLong):
            raise OutOfSteps
        if isinstance(answer, str):
            raise NoValue(FieldFault.XPATH, answer)
        if answer == [False] and rule.type == "boolean":
            return []
        return [self._item(item) for item in answer]

    def _item(self, item: int | list[str] | bool) -> bs4.Tag | str:
        if isinstance(item, bool):
            return "true" if item else "false"
        return self._elements[item] if isinstance(item, int) else item[0]

    def _text(self, element: bs4.Tag, rule: FieldRule) -> str | None:
        """None = it has no such attribute."""
        if rule.attribute:
            value = element.get(rule.attribute)
            text = " ".join(value) if isinstance(value, list) else value
            return None if text is None else text[:MAX_TEXT].strip()
        if rule.what == "html":
            self._budget.spend(sum(HTML_STEPS for _ in element.descendants))
            return element.decode()[:MAX_TEXT]
        return " ".join("".join(self._strings(element)).split())

    def _strings(self, element: bs4.Tag) -> Iterator[str]:
        """The visible strings of an element; for a script element its source."""
        kinds, length = element.interesting_string_types, 0
        for node in element.descendants:
            self._budget.spend()
            if isinstance(node, NavigableString) and _is_among(node, kinds):
                yield node
                length += len(node)
                if length > MAX_TEXT:
                    return

    def _matched(self, pattern: Any, text: str) -> str | None:
        if pattern is None:
            return text
        self._budget.spend(len(text) * pattern.programsize // REGEX_STEP)
        match = pattern.search(text)
        if match is None:
            return None
        return str(match[1] or "") if pattern.groups else str(match[0])


def _is_among(node: NavigableString, kinds: Any) -> bool:
    return type(node) in kinds if isinstance(kinds, (set, frozenset, tuple, list)) else type(node) is kinds


def _base_of(tree: bs4.BeautifulSoup, url: str) -> str:
    base = tree.find("base", href=True)
    return (normalise(str(base["href"]), url) if isinstance(base, bs4.Tag) else None) or url


@lru_cache(maxsize=64)
def _ready(rules: tuple[FieldRule, ...]) -> tuple[_Rule, ...]:
    return tuple(
        _Rule(rule, None if rule.xpath else soupsieve.compile(rule.selector), _pattern(rule.pattern)) for rule in rules
    )


def _pattern(pattern: str) -> Any:
    if not pattern:
        return None
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
