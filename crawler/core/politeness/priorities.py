"""The priorities of pages by rules of the user: a regular expression, and the priority of the URLs that match it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from crawler.core.errors import BadInput
from crawler.core.text.patterns import Patterns, check_patterns

USUAL_PRIORITY = 5  # of 0 (last) to 10 (first)

_RULE = re.compile(r"(.+)=\s*([0-9]|10)\s*", re.DOTALL)


def check_priorities(field: str, rules: Sequence[str]) -> None:
    """BadInput naming the field when one of these is not "PATTERN=N", or has a pattern that cannot be used."""
    for rule in rules:
        if _RULE.fullmatch(rule) is None:
            raise BadInput(
                field,
                f"{rule[:80]!r} has no priority: write a regular expression, = and 0 (last) to 10 (first), such as "
                "/news/=9.",
            )
    check_patterns(field, [pattern for pattern, _ in map(_parts, rules)])


def priority_of(url: str, own: int | None, rules: tuple[str, ...]) -> int:
    """The priority of a page: its own, else that of the first rule its URL matches, else the usual one. The rules have
    passed `check_priorities`."""
    if own is not None:
        return own
    return next((priority for patterns, priority in _compiled(rules) if patterns.found_in(url)), USUAL_PRIORITY)


def _parts(rule: str) -> tuple[str, int]:
    pattern, _, priority = rule.rpartition("=")
    return pattern.strip(), int(priority)  # no URL has a blank


@lru_cache(maxsize=64)
def _compiled(rules: tuple[str, ...]) -> tuple[tuple[Patterns, int], ...]:
    return tuple((Patterns.of([pattern]), priority) for pattern, priority in map(_parts, rules))
