"""The table in docs/options.md, made of the catalogue. `python -m tests.option_table` writes it into the page."""

import re
from pathlib import Path

from crawler.core.options.catalogue import OPTIONS
from crawler.core.options.kinds import Duration, Option, Switch, Text, Texts

PAGE = Path(__file__).resolve().parent.parent / "docs" / "options.md"
HEAD = "| on the page | on the command line | default | for example | what it does |\n|---|---|---|---|---|\n"


def table() -> str:
    """With a row for each option the command has an argument for, in the order of the command's help."""
    return HEAD + "".join(_row(option) for option in OPTIONS.values() if option.argument)


def _row(option: Option) -> str:
    example = f"`{option.kind.example}`" if option.kind.example else ""
    cells = (option.label, _typed(option), _default(option), example, _meaning(option))
    return f"| {' | '.join(cells)} |\n"


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


if __name__ == "__main__":
    old = re.search(re.escape(HEAD) + r"(?:\|.*\n)*", PAGE.read_text())
    assert old, "docs/options.md has no such table"
    PAGE.write_text(PAGE.read_text().replace(old[0], table()))
