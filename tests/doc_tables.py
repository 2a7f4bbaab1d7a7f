"""The parts of docs/ that are made of the catalogues. `python -m tests.doc_tables` writes them into their pages."""

import json
import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

from crawler.command_names import OF_OPERATORS
from crawler.core.channels.catalogue import KINDS
from crawler.core.channels.kind import ChannelKind
from crawler.core.options.catalogue import OPTIONS
from crawler.core.options.kinds import Duration, Option, Switch, Text, Texts
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.page_field import PageField, ValueType
from crawler.core.pages.page_fields import EXPORTED
from crawler.core.text.controls import Surface, spoken
from crawler.extras import EXTRAS, Extra
from crawler.launch.site_crawler import OTHER_NAMES
from crawler.management.parsers import summary, table

if TYPE_CHECKING:
    from crawler.reports.catalogue.report import Report

DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass(frozen=True)
class Part:
    """What a page of docs/ shows."""

    document: str
    pattern: str  # of the part as it is there
    text: str

    @property
    def page(self) -> Path:
        return DOCS / self.document

    def write(self) -> None:
        old = re.search(self.pattern, self.page.read_text(), re.DOTALL)
        assert old, f"docs/{self.document} has no such part"
        self.page.write_text(self.page.read_text().replace(old[0], self.text))


def parts() -> dict[str, Part]:
    from crawler.reports.catalogue.entries import REPORTS
    from crawler.reports.hints import hints

    channel = ("channel", "`transport`", "option of a crawl", "address", "stored", "shown in full to its owner")
    option = ("on the page", "on the command line", "default", "for example", "effect")
    typed = (each for each in OPTIONS.values() if each.argument)  # in the order of the command's help
    told = ((f"`{hint.slug}`", hint.about, spoken(hint.remedy, Surface.COMMAND)) for hint in hints())
    closed = ((f"`{outcome}`", outcome.category, outcome.label, outcome.entry.description) for outcome in Outcome)
    columns = ((f"`{field.name}`", field.type, field.description) for field in EXPORTED)
    return {
        "channels": _table("notices.md", channel, map(_channel, KINDS)),
        "options": _table("options.md", option, map(_option, typed)),
        "commands": _table("operations.md", ("command", "effect"), _commands()),
        "hints": _table("reports.md", ("hint", "given if", "what to do"), told),
        "outcomes": _table("exports.md", ("outcome", "counted as", "label", "meaning"), closed),
        "columns": _table("exports.md", ("column", "type", "meaning"), columns),
        "extras": _table("deployment.md", ("extra", "needed for", "packages"), map(_extra, EXTRAS)),
        **{f"the report {report.slug}": _report(report) for report in REPORTS},
        "the page of a notice": Part("notices.md", r'  "pages": \[\n    \{\n      "url".*?\n\}', _example()),
    }


def _table(document: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Part:
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    return Part(
        document,
        re.escape(head) + r"(?:\|[^\n]*\n)*",
        head + "".join(f"| {' | '.join(cells)} |\n" for cells in rows),
    )


def _report(report: "Report") -> Part:
    """What the report lists and what to do about it; the rest of its section is written by hand."""
    head = f"### {report.title}\n`{report.slug}`"
    about = report.about if report.about[:2].isupper() else report.about[0].lower() + report.about[1:]
    remedy = f"**To do**: {report.remedy[0].lower()}{report.remedy[1:]}"
    text = f"{head}: {_wrapped(f'`{report.slug}`: {about}').partition(': ')[2]}\n\n{_wrapped(remedy)}\n"
    return Part("reports.md", re.escape(head) + r":.*?\n\n\*\*To do\*\*:.*?\n(?=\n)", text)


def _wrapped(paragraph: str) -> str:
    return textwrap.fill(paragraph, 120, break_long_words=False, break_on_hyphens=False)


def _commands() -> Iterator[tuple[str, ...]]:
    """As they are typed behind `site-crawler`, those for users first."""
    commands = table()["commands"]
    for name in sorted(commands, key=lambda each: (each in OF_OPERATORS, each)):
        others = [f"`{other}`" for other, command in OTHER_NAMES.items() if command == name]
        typed = f"`admin {name}`" if name in OF_OPERATORS else f"`{name}`"
        yield ", ".join([typed, *others]), f"{summary(commands[name]['description'])}."


def _channel(kind: ChannelKind) -> tuple[str, ...]:
    stored = "encrypted" if kind.is_web else "in plain text"
    is_shown = "no" if kind.is_secret else "yes"
    return (kind.label, f"`{kind.name}`", f"`{kind.option}`", f"`{kind.example}`", stored, is_shown)


def _extra(extra: Extra) -> tuple[str, ...]:
    return (
        f"`{extra.name}`",
        extra.purpose.rpartition(" ")[0],
        ", ".join(f"`{package}`" for package in extra.packages),
    )


def _option(option: Option) -> tuple[str, ...]:
    example = f"`{option.kind.example}`" if option.kind.example else ""
    return (option.label, _typed(option), _default(option), example, _meaning(option))


def _typed(option: Option) -> str:
    typed = f"`{option.flag} {option.kind.metavar}".rstrip() + "`"
    if isinstance(option.kind, Switch) and option.kind.has_both:
        return f"{typed}, `{option.flag.replace('--', '--no-', 1)}`"
    return f"{typed} *" if isinstance(option.kind, Texts) else typed


def _meaning(option: Option) -> str:
    """The help; of a flag that turns an option off, what the flag does."""
    line = option.line_of_help
    return f"{line[0].upper()}{line[1:]}." if option.is_negative else option.help


def _default(option: Option) -> str:
    if isinstance(option.kind, Text):
        return option.kind.empty
    match option.default:
        case bool():
            return "yes" if option.default else "no"
        case None:
            return option.kind.empty if isinstance(option.kind, Duration) else "no limit"
        case tuple():
            return ""
        case _:
            return f"`{option.default:{'' if isinstance(option.default, str) else 'g'}}`"


def _example() -> str:
    row = {field.name: _exported(field) for field in EXPORTED}
    return json.dumps({"pages": [row]}, indent=2).removeprefix("{\n")


def _exported(field: PageField) -> Any:
    """An export has "+00:00" where the API has "Z"."""
    return field.example.replace("Z", "+00:00") if field.type is ValueType.DATETIME else field.example


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.test")
    django.setup()
    for part in parts().values():
        part.write()
