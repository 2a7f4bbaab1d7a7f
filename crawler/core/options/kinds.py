"""The parts of a crawl option's entry: its kind, which checks values, and its group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import msgspec

from crawler.core.errors import BadInput

MAX_DAYS = 366  # of a duration

T = TypeVar("T")


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    example: str
    most: int | None = None
    hint: str = ""  # what to do instead of 0
    default: int | None = None
    metavar: str = "N"
    unit: str = ""

    def problem(self, value: int | None) -> str:
        if value is None:
            return ""
        if self.most is None:
            return f"must be 1 or more, not {value}{self.hint}" if value < 1 else ""
        return "" if 1 <= value <= self.most else f"must be between 1 and {self.most}, not {value}"


@dataclass(frozen=True)
class Size(Whole):
    """A number of bytes, typed with or without a unit."""

    metavar: str = "SIZE"
    unit: str = "bytes"


@dataclass(frozen=True)
class Number:
    """A number above 0 that may have a fraction."""

    example: str
    most: float
    default: float | None = None
    metavar: str = "N"
    unit: str = ""

    def problem(self, value: float | None) -> str:
        if value is None or 0 < value <= self.most:
            return ""
        return f"must be more than 0 and at most {self.most:,.0f}, not {value:g}"


@dataclass(frozen=True)
class Seconds:
    """A number of seconds, 0 or more, typed without a unit."""

    example: str
    most: float
    default: float = 0.0
    metavar: str = "S"
    unit: str = ""

    def problem(self, value: float) -> str:
        return "" if 0 <= value <= self.most else f"must be between 0 and {self.most:.0f} seconds, not {value:g}"


@dataclass(frozen=True)
class Span:
    """A duration, typed with or without a unit; None when there is none."""

    example: str
    empty: str = "no limit"  # what None means
    default: float | None = None
    metavar: str = "TIME"
    unit: str = "seconds"

    def problem(self, value: float | None) -> str:
        if value is None or 0 < value <= MAX_DAYS * 86400:
            return ""
        return f"must be more than 0 seconds and at most {MAX_DAYS} days, not {value:,.10g} s"


@dataclass(frozen=True)
class Switch:
    """Yes or no."""

    default: bool = False
    has_both: bool = False  # the command has --x and --no-x
    metavar: str = ""
    example: str = ""
    unit: str = ""

    def problem(self, value: bool) -> str:
        return ""


@dataclass(frozen=True)
class Choice:
    """One of several values, each with its label."""

    example: str
    default: str
    labels: dict[str, str]
    metavar: str = "WHAT"
    unit: str = ""

    def problem(self, value: str) -> str:
        return "" if value in self.labels else f"can be {', '.join(self.labels)}; not {value!r}"


@dataclass(frozen=True)
class Lines:
    """Any number of texts. The command takes one at a time, the form one per line."""

    example: str
    check: Callable[[str, Sequence[str]], None]
    metavar: str = ""
    default: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Text:
    """One text of one line."""

    example: str
    check: Callable[[str, str], None]  # called for one that is not empty
    empty: str  # what "" means
    metavar: str = "TEXT"
    default: str = ""
    unit: str = ""


Kind = Whole | Size | Number | Seconds | Span | Switch | Choice | Lines | Text


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
    command: str = ""  # the heading in the help of the command; "" = the command takes them in its own way


@dataclass(frozen=True)
class Option:
    """A crawl option, as all surfaces show it."""

    kind: Kind
    group: OptionGroup
    label: str  # on the page and at the start of error messages
    help: str  # sentences; the first fits into one line of a terminal
    long_flag: str = ""
    command_help: str = ""
    name: str = ""

    @property
    def default(self) -> Any:
        return self.kind.default

    @property
    def flag(self) -> str:
        return self.long_flag or f"--{self.name.replace('_', '-')}"

    @property
    def argument(self) -> str:
        """The flag as argparse names it; "" when the command takes the option in its own way."""
        return self.flag.removeprefix("--").replace("-", "_") if self.group.command else ""

    @property
    def is_negative(self) -> bool:
        """Whether the command's flag turns off what is on by default."""
        return isinstance(self.kind, Switch) and self.kind.default and not self.kind.has_both

    @property
    def description(self) -> str:
        """The help in the API, where a value has no unit of its own."""
        return self.help.replace(".", f" (in {self.kind.unit}).", 1) if self.kind.unit else self.help

    @property
    def form_help(self) -> str:
        """The help on the page, which shows how a value is typed."""
        if isinstance(self.kind, Lines):
            return f"{self.help} One per line."
        if isinstance(self.kind, (Switch, Choice)):
            return self.help
        return f"{self.help} Example: {self.kind.example}."

    @property
    def line_of_help(self) -> str:
        """The help of the command: the first sentence and the default."""
        first = self.help.split(". ")[0].rstrip(".")
        text = self.command_help or first[0].lower() + first[1:]
        match self.kind:
            case Switch(has_both=True):
                return f"{text} (default: {'yes' if self.default else 'no'})"
            case Whole() if self.default is not None:
                return f"{text} (default: {self.default})"
            case Lines():
                return f"{text} *"
        return text

    def check(self, value: Any) -> None:
        """BadInput when it cannot be used."""
        if isinstance(self.kind, Lines):
            self.kind.check(self.name, value)
        elif isinstance(self.kind, Text):
            if value:
                self.kind.check(self.name, value)
        elif problem := self.kind.problem(value):
            raise BadInput(self.name, f"{self.label} {problem}.")


@dataclass(frozen=True)
class ByHand:
    """An option for which the form, the command and the check have their own code."""

    default: Any
    description: str
    name: str = ""


def option(kind: Kind, group: OptionGroup, label: str, help: str, *, flag: str = "", command_help: str = "") -> Any:
    """The entry of an option. `flag` and `command_help`: for a flag that is not the option's name, or turns it off."""
    return Option(kind, group, label, help, flag, command_help)


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
        made.entries = {field: replace(entry, name=field) for field, entry in entries.items()}
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
