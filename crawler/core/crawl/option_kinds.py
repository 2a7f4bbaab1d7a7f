"""What describes a crawl option: its kind with the limits of its values, its group, and its words on each surface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import msgspec

from crawler.core.errors import BadInput

MAX_DAYS = 366  # of a time

T = TypeVar("T")


@dataclass(frozen=True)
class Whole:
    """A whole number. `subject` begins the messages about it."""

    subject: str
    example: str
    most: int | None = None
    hint: str = ""  # what to do instead of 0
    metavar: str = "N"

    def check(self, field: str, value: int | None) -> None:
        if value is None:
            return
        if self.most is None and value < 1:
            raise BadInput(field, f"{self.subject} must be 1 or more, not {value}{self.hint}.")
        if self.most is not None and not 1 <= value <= self.most:
            raise BadInput(field, f"{self.subject} must be between 1 and {self.most}, not {value}.")


@dataclass(frozen=True)
class Size(Whole):
    """A number of bytes, typed with or without a unit."""

    metavar: str = "SIZE"


@dataclass(frozen=True)
class Number:
    """A number above 0 that may have a fraction."""

    subject: str
    example: str
    most: float
    metavar: str = "N"

    def check(self, field: str, value: float | None) -> None:
        if value is not None and not 0 < value <= self.most:
            raise BadInput(field, f"{self.subject} must be more than 0 and at most {self.most:,.0f}, not {value:g}.")


@dataclass(frozen=True)
class Seconds:
    """A number of seconds, 0 or more, typed without a unit."""

    subject: str
    example: str
    most: float
    metavar: str = "S"

    def check(self, field: str, value: float) -> None:
        if not 0 <= value <= self.most:
            raise BadInput(field, f"{self.subject} must be between 0 and {self.most:.0f} seconds, not {value:g}.")


@dataclass(frozen=True)
class Span:
    """A time, typed with or without a unit; None when there is none."""

    subject: str
    example: str
    empty: str = "no limit"  # what no time means
    metavar: str = "TIME"

    def check(self, field: str, value: float | None) -> None:
        if value is not None and not 0 < value <= MAX_DAYS * 86400:
            raise BadInput(
                field,
                f"{self.subject} must be more than 0 seconds and at most {MAX_DAYS} days, not {value:,.10g} s.",
            )


@dataclass(frozen=True)
class Switch:
    """Yes or no."""

    has_both: bool = False  # the command has --x and --no-x
    metavar: str = ""
    example: str = ""

    def check(self, field: str, value: bool) -> None:
        """Both values can be used."""


@dataclass(frozen=True)
class Choice:
    """One of several words, each with its label."""

    subject: str
    example: str
    labels: dict[str, str]
    unknown: str  # what the form says of another word
    metavar: str = "WHAT"

    def check(self, field: str, value: str) -> None:
        if value not in self.labels:
            raise BadInput(field, f"{self.subject} can be {', '.join(self.labels)}; not {value!r}.")


@dataclass(frozen=True)
class Lines:
    """Any number of texts. The command takes one at a time, the form one a line."""

    example: str
    check: Callable[[str, Sequence[str]], None]
    metavar: str = ""


Kind = Whole | Size | Number | Seconds | Span | Switch | Choice | Lines


def each(check: Callable[[str, str], None]) -> Callable[[str, Sequence[str]], None]:
    """The check of several texts by that of one."""

    def check_all(field: str, values: Sequence[str]) -> None:
        for value in values:
            check(field, value)

    return check_all


@dataclass(frozen=True)
class OptionGroup:
    """Options that stand together."""

    heading: str  # on the page; "" = always shown, without a heading
    about: str  # in a few words
    command: str = ""  # the heading in the help of the command


@dataclass(frozen=True)
class FormField:
    """The option on the page."""

    label: str
    help: str


@dataclass(frozen=True)
class Argument:
    """The option of the command. Its help fits into one line of a terminal."""

    flag: str
    help: str

    @property
    def name(self) -> str:
        """As argparse names it."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Option:
    """A crawl option, as all surfaces show it."""

    default: Any
    kind: Kind
    group: OptionGroup
    field: FormField
    argument: Argument | None  # None: the command takes it in its own way
    description: str  # in the API and docs/options.md

    @property
    def is_negative(self) -> bool:
        """Whether the command's flag turns off what is on by default."""
        return self.default is True and isinstance(self.kind, Switch) and not self.kind.has_both


@dataclass(frozen=True)
class ByHand:
    """An option for which the form, the command and the check have their own code."""

    default: Any
    description: str


def option(
    default: T,
    kind: Kind,
    group: OptionGroup,
    field: FormField,
    argument: Argument | None = None,
    *,
    description: str = "",
) -> T:
    """The entry of an option; its type is that of the option, as with `dataclasses.field`.

    Without a description it is the help on the page.
    """
    return cast(T, Option(default, kind, group, field, argument, description or field.help))


def by_hand(default: T, description: str) -> T:
    """The entry of an option that has its own code."""
    return cast(T, ByHand(default, description))


@dataclass(frozen=True)
class OptionFamily:
    """Options with entries from another catalogue, each a field of this type."""

    hint: str
    options: Mapping[str, Option]


class DescribedStruct(msgspec.StructMeta):
    """Makes a struct of a class whose fields have entries: keeps those, and gives the struct their defaults."""

    entries: dict[str, Option | ByHand]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> DescribedStruct:
        namespace = _with_families(namespace)
        entries = {field: value for field, value in namespace.items() if isinstance(value, (Option, ByHand))}
        defaults = {field: entry.default for field, entry in entries.items()}
        made = super().__new__(mcs, name, bases, {**namespace, **defaults}, **config)
        made.entries = entries
        return made


def _with_families(namespace: dict[str, Any]) -> dict[str, Any]:
    """The namespace of a class with the fields of each family where the family stands."""
    values, hints = dict[str, Any](), dict[str, Any]()
    for field, hint in namespace["__annotations__"].items():
        family = namespace.get(field)
        hints |= dict.fromkeys(family.options, family.hint) if isinstance(family, OptionFamily) else {field: hint}
    for field, value in namespace.items():
        values |= value.options if isinstance(value, OptionFamily) else {field: value}
    return values | {"__annotations__": hints}
