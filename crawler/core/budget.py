"""How much work extraction may make of one page: selectors looked for in steps that are counted, so that none takes
longer than it should, however it is written and whatever the page is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bs4
from soupsieve import SoupSieve
from soupsieve.css_match import CSSMatch

REGEX_STEP = 500  # characters times instructions of a pattern that take about as long as a step


class OutOfSteps(Exception):
    """The work took more steps than it may."""


class Budget:
    """Steps that may still be taken. One is about a look at one element."""

    def __init__(self) -> None:
        self.left = 0

    def grant(self, steps: int) -> None:
        """More of them; those left over are kept."""
        self.left = max(0, self.left) + steps

    def spend(self, steps: int = 1) -> None:
        self.left -= steps
        if self.left < 0:
            raise OutOfSteps


def selected(selector: SoupSieve, tree: bs4.Tag, budget: Budget, limit: int) -> list[bs4.Tag]:
    """The first elements that match, in their order. Raises OutOfSteps."""
    matcher = _Counting(selector.selectors, tree, selector.namespaces, selector.flags)
    matcher.budget = budget
    return list(matcher.select(limit))


class _Counting(CSSMatch):
    """Counts what every loop of soupsieve goes through: children, descendants, parents and neighbours."""

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
        self._count()  # asked of every element that is held against a selector
        return super().get_tag_ns(el)

    def _counted(self, found: Iterator[Any]) -> Iterator[Any]:
        for node in found:
            self._count()
            yield node

    def _count(self) -> None:
        if "budget" in self.__dict__:  # while it is being made, it climbs to the root
            self.budget.spend()
