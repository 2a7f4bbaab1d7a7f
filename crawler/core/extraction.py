"""Runs extraction rules over a page with BeautifulSoup: values that always exist, and a note where one is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import bs4
import re2
import soupsieve
from bs4.element import NavigableString

from crawler.core.budget import REGEX_STEP, Budget, OutOfSteps, selected
from crawler.core.document import Document, document_of
from crawler.core.options import CrawlOptions
from crawler.core.rules import FieldRule
from crawler.core.urls import normalise
from crawler.core.values import NoValue, Value, value_of

MAX_BYTES = 5 * 1024 * 1024  # of a page in UTF-8; from a larger one nothing is extracted
MAX_VALUE = 10_000  # characters
MAX_VALUES = 200  # of one field
MAX_TOTAL = 200_000  # characters of all values of a page
LOOKED_THROUGH = 100_000  # characters of an element that are looked at
STEPS = 1_500_000  # for a page, dealt out to its rules; the worst of them take some seconds

HTML_STEPS = 8  # to write an element as HTML takes so much longer than to look at it

TOO_LARGE = f"the page is too large for extraction: it has more than {MAX_BYTES // 1024 // 1024} MB or 20,000 tags"
TOO_LONG = "the selector or the pattern takes too long on this page"
TOO_MUCH = f"the values of this page have more than {MAX_TOTAL:,} characters together"
NO_MATCH = "the pattern does not match what the selector finds"
CUT = f"cut after {MAX_VALUE:,} characters"
FAULT = "the page could not be read by the extraction rules"


@dataclass(frozen=True)
class Extraction:
    """What was read of one page."""

    values: dict[str, Any]  # by name, of every rule: a value, a list of values, or None
    notes: dict[str, str] = field(default_factory=dict)  # name -> why there is no value, or not all of it


@dataclass(frozen=True)
class _Rule:
    """A rule made ready."""

    rule: FieldRule
    selector: soupsieve.SoupSieve
    pattern: Any  # of re2; None = there is none


def names(options: CrawlOptions) -> list[str]:
    """The names of a crawl's fields, in the order of its rules: the columns they become."""
    return [rule.name for rule in options.fields]


def nothing(rules: Sequence[FieldRule], note: str) -> Extraction:
    """No value for any of the rules, for one reason."""
    return Extraction({rule.name: None for rule in rules}, {rule.name: note for rule in rules})


def extract(html: bytes | Document, url: str, rules: tuple[FieldRule, ...]) -> Extraction:
    """What these rules, which have passed `check_rules`, find on the page `html` (in UTF-8, or parsed) at the
    normalised `url`.

    1. The page's tree is a browser's: selectors that work in a browser work here. BeautifulSoup is given that tree, so
       that its own parser never meets anything odd.
    2. Each rule takes the first element its selector matches, or with `many` the first MAX_VALUES; of each its text
       (white space collapsed), its HTML or an attribute; of that what the pattern finds; and turns it into its type.
    3. A boolean says whether anything was found.
    4. What is not there is None, or an empty list; a note says so only if it looks like a mistake.
    """
    if isinstance(html, bytes) and len(html) > MAX_BYTES:
        return nothing(rules, TOO_LARGE)
    document = html if isinstance(html, Document) else document_of(html)
    if not document.is_whole or document.size > MAX_BYTES:
        return nothing(rules, TOO_LARGE)
    try:
        tree = bs4.BeautifulSoup(document.tree.html or "", "html.parser")
    except (RecursionError, bs4.ParserRejectedMarkup):
        return nothing(rules, FAULT)
    return _Page(tree, url).extraction(_ready(rules))


class _Page:
    """A page at work."""

    def __init__(self, tree: bs4.BeautifulSoup, url: str) -> None:
        self._tree, self._base = tree, _base_of(tree, url)
        self._budget, self._room = Budget(), MAX_TOTAL
        self._values: dict[str, Any] = {}
        self._notes: dict[str, str] = {}

    def extraction(self, rules: Sequence[_Rule]) -> Extraction:
        for ready in rules:
            self._budget.grant(STEPS // len(rules))
            name = ready.rule.name
            try:
                self._values[name] = self._found(ready)
            except OutOfSteps:
                self._values[name], self._notes[name] = None, TOO_LONG
            except NoValue as none:
                self._values[name], self._notes[name] = None, str(none)
        return Extraction(self._values, self._notes)

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
            raise NoValue(NO_MATCH)
        return self._value(rule, texts[0])

    def _many(self, ready: _Rule) -> list[Value]:
        """All values there are; those that cannot be read are left out, and the first of them is told."""
        values: list[Value] = []
        for place, text in enumerate(self._texts(ready)):
            if place == MAX_VALUES:
                self._notes[ready.rule.name] = f"only the first {MAX_VALUES} are kept"
            elif text is not None:
                try:
                    values.append(self._value(ready.rule, text))
                except NoValue as none:
                    self._notes.setdefault(ready.rule.name, str(none))
        return values

    def _value(self, rule: FieldRule, text: str) -> Value:
        value = value_of(rule.type, text, self._base)
        if isinstance(value, str):
            if len(value) > MAX_VALUE:
                self._notes.setdefault(rule.name, CUT)
                value = value[:MAX_VALUE]
            self._room -= len(value)
            if self._room < 0:
                raise NoValue(TOO_MUCH)
        return value

    def _texts(self, ready: _Rule) -> Iterator[str | None]:
        """What is taken of each element; None where the pattern does not match."""
        limit = MAX_VALUES + 1 if ready.rule.many or ready.rule.type == "boolean" else 1
        for element in selected(ready.selector, self._tree, self._budget, limit):
            text = self._text(element, ready.rule)
            if text is not None:
                yield self._matched(ready.pattern, text)

    def _text(self, element: bs4.Tag, rule: FieldRule) -> str | None:
        """None = it does not have that attribute."""
        if rule.attribute:
            said = element.get(rule.attribute)
            text = " ".join(said) if isinstance(said, list) else said
            return None if text is None else text[:LOOKED_THROUGH].strip()
        if rule.what == "html":
            self._budget.spend(sum(HTML_STEPS for _ in element.descendants))
            return element.decode()[:LOOKED_THROUGH]
        return " ".join("".join(self._strings(element)).split())

    def _strings(self, element: bs4.Tag) -> Iterator[str]:
        """The strings in an element that its readers see; those of a script if it is one."""
        kinds, length = element.interesting_string_types, 0
        for node in element.descendants:
            self._budget.spend()
            if isinstance(node, NavigableString) and _is_among(node, kinds):
                yield node
                length += len(node)
                if length > LOOKED_THROUGH:
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
    return tuple(_Rule(rule, soupsieve.compile(rule.selector), _pattern(rule.pattern)) for rule in rules)


def _pattern(pattern: str) -> Any:
    if not pattern:
        return None
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)
