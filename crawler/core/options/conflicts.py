"""Choices of a crawl that exclude each other, as rows: each gives the option at fault, and what to say of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

Condition = Callable[[msgspec.Struct], bool]
"""Of the options of a crawl. An option that this installation does not have is not chosen."""


class Conflict(msgspec.Struct, frozen=True):
    """What is refused: both conditions at once."""

    field: str  # the option at which the message is shown
    when: Condition
    excludes: Condition
    because: str  # the message


def chosen(*options: str) -> Condition:
    """Whether one of the options has another value than the default."""
    return lambda struct: any(_value(struct, name) != _value(_defaults(type(struct)), name) for name in options)


def none_of(*options: str) -> Condition:
    """Whether all of the options have their defaults."""
    return lambda struct: not chosen(*options)(struct)


def has(option: str, *values: str) -> Condition:
    """Whether an option that is a list has all these values."""
    return lambda struct: set(values) <= set(_value(struct, option) or ())


def lacks(option: str, value: str) -> Condition:
    return lambda struct: not has(option, value)(struct)


def all_of(*conditions: Condition) -> Condition:
    return lambda struct: all(condition(struct) for condition in conditions)


def _value(struct: msgspec.Struct, option: str) -> Any:
    return getattr(struct, option, None)


@cache
def _defaults(kind: type[msgspec.Struct]) -> msgspec.Struct:
    return kind()
