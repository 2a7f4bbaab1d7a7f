"""The table in docs/options.md, made of the catalogue. `python -m tests.option_table` writes it into the page."""

from __future__ import annotations

import re
from pathlib import Path

from crawler.core.crawl.option_kinds import Argument, Lines, Option, Span, Switch
from crawler.core.crawl.options import OPTIONS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "options.md"
HEAD = "| on the page | on the command line | default | for example | what it does |\n|---|---|---|---|---|\n"


def table() -> str:
    """With a row for each option the command has an argument for, in the order of the command's help."""
    return HEAD + "".join(_row(option, option.argument) for option in OPTIONS.values() if option.argument)


def _row(option: Option, argument: Argument) -> str:
    example = f"`{option.kind.example}`" if option.kind.example else ""
    cells = (option.field.label, _typed(option, argument), _default(option), example, _meaning(option, argument))
    return f"| {' | '.join(cells)} |\n"


def _typed(option: Option, argument: Argument) -> str:
    typed = f"`{argument.flag} {option.kind.metavar}".rstrip() + "`"
    if isinstance(option.kind, Switch) and option.kind.has_both:
        return f"{typed}, `{argument.flag.replace('--', '--no-', 1)}`"
    return f"{typed} *" if isinstance(option.kind, Lines) else typed


def _meaning(option: Option, argument: Argument) -> str:
    """The description is that of the API, which takes seconds and False where the command takes TIME and a flag."""
    if isinstance(option.kind, Span) or option.is_negative:
        return argument.help[0].upper() + argument.help[1:] + "."
    return option.description


def _default(option: Option) -> str:
    match option.default:
        case bool():
            return "yes" if option.default else "no"
        case None:
            return option.kind.empty if isinstance(option.kind, Span) else "no limit"
        case tuple():
            return ""
        case _:
            return f"`{option.default:{'' if isinstance(option.default, str) else 'g'}}`"


if __name__ == "__main__":
    old = re.search(re.escape(HEAD) + r"(?:\|.*\n)*", PAGE.read_text())
    assert old, "docs/options.md has no such table"
    PAGE.write_text(PAGE.read_text().replace(old[0], table()))
