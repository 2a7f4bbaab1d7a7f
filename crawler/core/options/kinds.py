"""The parts of a crawl option's entry: its kind, which checks values, and its group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec

from crawler.core.composed import Entry, Part
from crawler.core.errors import BadInput
from crawler.core.options.conflicts import Conflict

MAX_DAYS = 366  # of a duration

T = TypeVar("T")


class WholeNumber(msgspec.Struct, frozen=True):
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


class Size(WholeNumber, frozen=True):
    """A number of bytes, typed with or without a unit."""

    metavar: str = "SIZE"
    unit: str = "bytes"


class Number(msgspec.Struct, frozen=True):
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


class Seconds(msgspec.Struct, frozen=True):
    """A number of seconds, 0 or more, typed without a unit."""

    example: str
    most: float
    default: float = 0.0
    metavar: str = "S"
    unit: str = ""

    def problem(self, value: float) -> str:
        return "" if 0 <= value <= self.most else f"must be between 0 and {self.most:.0f} seconds, not {value:g}"


class Duration(msgspec.Struct, frozen=True):
    """A duration, typed with or without a unit; None when there is none."""

    example: str
    empty: str = "no limit"  # what None means
    most: float | None = None  # seconds; None = MAX_DAYS
    default: float | None = None
    metavar: str = "TIME"
    unit: str = "seconds"

    def problem(self, value: float | None) -> str:
        if value is not None and self.most is not None and self.most < value <= MAX_DAYS * 86400:
            return f"must be at most {self.most:g} seconds, not {value:g} s"
        if value is None or 0 < value <= MAX_DAYS * 86400:
            return ""
        return f"must be more than 0 seconds and at most {MAX_DAYS} days, not {value:,.10g} s"


class Switch(msgspec.Struct, frozen=True):
    """Yes or no."""

    default: bool = False
    has_both: bool = False  # the command has --x and --no-x
    metavar: str = ""
    example: str = ""
    unit: str = ""

    def problem(self, value: bool) -> str:
        return ""


class Choice(msgspec.Struct, frozen=True):
    """One of several values, each with its label."""

    example: str
    default: str
    labels: dict[str, str]
    metavar: str = "WHAT"
    unit: str = ""

    def problem(self, value: str) -> str:
        return "" if value in self.labels else f"can be {', '.join(self.labels)}; not {value!r}"


class Texts(msgspec.Struct, frozen=True):
    """Any number of texts. The command takes one at a time, the form one per line."""

    example: str
    check: Callable[[str, Sequence[str]], None]
    metavar: str = ""
    default: tuple[str, ...] = ()
    unit: str = ""


class Text(msgspec.Struct, frozen=True):
    """One text of one line."""

    example: str
    check: Callable[[str, str], None]  # called for one that is not empty
    empty: str  # what "" means
    metavar: str = "TEXT"
    default: str = ""
    unit: str = ""


Kind = WholeNumber | Size | Number | Seconds | Duration | Switch | Choice | Texts | Text


def each(check: Callable[[str, str], None]) -> Callable[[str, Sequence[str]], None]:
    """The check of several texts by that of one."""

    def check_all(field: str, values: Sequence[str]) -> None:
        for value in values:
            check(field, value)

    return check_all


class OptionGroup(msgspec.Struct, frozen=True):
    """Options that stand together."""

    heading: str  # on the page; "" = always shown, without a heading
    about: str  # in a few words
    command: str = ""  # the heading in the help of the command; "" = the command takes them in its own way
    place: int = 0  # on the form, among the groups
    first: tuple[str, ...] = ()  # the fields that are first on the form, also those that are no options


class WireForm(msgspec.Struct, frozen=True):
    """How a fetch job gets an option that has another name there, or another type: workers of earlier versions do."""

    name: str
    hint: type
    value: Callable[[Any], Any]  # of that of the option


class OptionEntry(Entry, frozen=True, kw_only=True):
    """The entry of an option."""

    in_fetch: bool | WireForm = False  # a fetch job gets it, see `protocol.fetch_policy`
    version: int = 1  # of messages: workers of an earlier one may get no batch of a crawl that chose the option
    bars: Callable[[str], bool] | None = None  # the URLs that a crawl which chose the option never requests

    def check(self, value: Any) -> None:
        """BadInput when it cannot be used."""
        raise NotImplementedError


class Option(OptionEntry, frozen=True):
    """A crawl option, as all surfaces show it."""

    kind: Kind
    group: OptionGroup
    label: str  # on the page and at the start of error messages
    help: str  # sentences; the first fits into one line of a terminal
    long_flag: str = ""
    command_help: str = ""

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
        """Whether the command's flag turns off an option that is on by default."""
        return isinstance(self.kind, Switch) and self.kind.default and not self.kind.has_both

    @property
    def description(self) -> str:
        """The help in the API, where a value has no unit of its own."""
        return self.help.replace(".", f" (in {self.kind.unit}).", 1) if self.kind.unit else self.help

    @property
    def form_help(self) -> str:
        """The help on the page, which shows how a value is typed."""
        if isinstance(self.kind, Texts):
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
            case WholeNumber() if self.default is not None:
                return f"{text} (default: {self.default})"
            case Texts():
                return f"{text} *"
        return text

    def check(self, value: Any) -> None:
        if isinstance(self.kind, Texts):
            self.kind.check(self.name, value)
        elif isinstance(self.kind, Text):
            if value:
                self.kind.check(self.name, value)
        elif problem := self.kind.problem(value):
            raise BadInput(self.name, f"{self.label} {problem}.")


class ByHand(OptionEntry, frozen=True):
    """An option for which the form and the command have their own code."""

    usual: Any
    description: str
    judge: Callable[[str, Any], object]

    @property
    def default(self) -> Any:
        return self.usual

    def check(self, value: Any) -> None:
        self.judge(self.name, value)


class Rules(ByHand, frozen=True):
    """Extraction rules. They are typed into the form, and the command takes a file of them."""

    group: OptionGroup


class Several(ByHand, frozen=True):
    """Any number of some values. The form has a box for each, the command takes one at a time."""

    group: OptionGroup
    boxes: dict[str, tuple[str, str]]  # value -> the label and help of its box
    metavar: str
    command_help: str

    @property
    def fields(self) -> dict[str, str]:
        """Value -> the name of its field on the form."""
        return {value: f"{self.name}_{value}" for value in self.boxes}


def option(
    kind: Kind,
    group: OptionGroup,
    label: str,
    help: str,
    *,
    flag: str = "",
    command_help: str = "",
    in_fetch: bool | WireForm = False,
    version: int = 1,
    bars: Callable[[str], bool] | None = None,
) -> Any:
    """The entry of an option. `flag` and `command_help`: for a flag that is not the option's name, or turns it off."""
    return Option(kind, group, label, help, flag, command_help, in_fetch=in_fetch, version=version, bars=bars)


def by_hand(default: T, description: str, check: Callable[[str, T], object], *, in_fetch: bool = False) -> T:
    """The entry of an option that has its own code."""
    return cast(T, ByHand(default, description, check, in_fetch=in_fetch))


class OptionSet(msgspec.Struct, frozen=True):
    """What a capability gives: options, and what they exclude."""

    part: type[Part]
    conflicts: tuple[Conflict, ...] = ()
    changeable: tuple[str, ...] = ()  # those that a user may change while a crawl runs
