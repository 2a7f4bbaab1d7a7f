"""The step budget of extraction: selectors are matched in counted steps, so that any selector ends in time on any
page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bs4
from bs4.element import NavigableString
from soupsieve import SoupSieve
from soupsieve.css_match import CSSMatch

REGEX_STEP = 500  # characters times instructions of a pattern that take about as long as one step
TEXT_STEP = 10  # characters that are read one by one in that time
VALUE_STEP = 100  # characters that are matched against a pattern of soupsieve
ATTRIBUTES_STEP = 2


class OutOfSteps(Exception):
    """The budget is exhausted."""


class Budget:
    """The steps that are left. One step is about the visit of one element."""

    def __init__(self) -> None:
        self.left = 0

    def grant(self, steps: int) -> None:
        """Add steps to those left."""
        self.left = max(0, self.left) + steps

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfSteps


def selected(selector: SoupSieve, tree: bs4.Tag, budget: Budget, limit: int) -> list[bs4.Tag]:
    """The first elements that match, in their order. Raises OutOfSteps."""
    matcher = _CountingMatch(selector.selectors, tree, selector.namespaces, selector.flags)
    matcher.budget = budget
    return list(matcher.select(limit))


class _CountingMatch(CSSMatch):
    """Counts the steps of every loop of soupsieve: children, descendants, parents and neighbours, with their text;
    attributes, their values, classes and languages."""

    budget: Budget

    def get_children(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        return self._counted(super().get_children(*args, **kwargs))

    def get_contents(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        return self._counted(super().get_contents(*args, **kwargs))

    def get_descendants(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        return self._counted(super().get_descendants(*args, **kwargs))

    def get_parent(self, *args: Any, **kwargs: Any) -> Any:
        self._count()
        return super().get_parent(*args, **kwargs)

    def get_tag_ns(self, el: bs4.Tag | None) -> str:
        self._count()  # called for every element that is matched
        return super().get_tag_ns(el)

    def get_classes(self, el: bs4.Tag) -> Sequence[str]:  # type: ignore[override]  # of this matcher: it counts
        classes = super().get_classes(el)
        self._count(len(classes) // TEXT_STEP)
        return classes

    def match_attribute_name(self, el: bs4.Tag, *args: Any) -> Any:
        value = super().match_attribute_name(el, *args)
        self._count(len(el.attrs) // ATTRIBUTES_STEP + _length(value) // VALUE_STEP)
        return value

    def match_dir(self, el: bs4.Tag, *args: Any) -> bool:
        self._count(sum(map(_length, el.attrs.values())) // TEXT_STEP)  # the direction may depend on an input's value
        return bool(super().match_dir(el, *args))

    def resolve_lang(self, *args: Any) -> str:
        language = str(super().resolve_lang(*args))
        self._count(len(language))
        return language

    def _counted(self, found: Iterator[Any]) -> Iterator[Any]:
        for node in found:
            self._count(1 + len(node) // TEXT_STEP if isinstance(node, NavigableString) else 1)
            yield node

    def _count(self, steps: int = 1) -> None:
        if "budget" in self.__dict__:  # not yet set while the constructor walks to the root
            self.budget.spend(steps)


def _length(value: str | Sequence[str] | None) -> int:
    return len(value) if isinstance(value, str) else sum(map(len, value or ()))
