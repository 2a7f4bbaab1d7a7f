"""`site-crawler man`: prints the man page, made of the same parsers as help."""

from __future__ import annotations

import os
import re
import time
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

from crawler import __version__
from crawler.command_names import PROGRAM
from crawler.launch import site_crawler
from crawler.management.parsers import new_parser

EPILOG = """\
examples:
  site-crawler man | man -l -
  site-crawler man > ~/.local/share/man/man1/site-crawler.1

exit codes:
  0    the page is on stdout
  2    invalid arguments
"""
DESCRIPTION = """\
A self-hosted recursive site crawler. \\fBcrawl\\fR crawls a site with nothing else running; \\fBup\\fR starts the web
pages, workers and the services they need on this machine. Data are stored in the data folder of the user, or in the
folder that CRAWLER_DATA_DIR names.
"""

CONFIGURATION = """\
\\fBcrawl\\fR reads options from site\\-crawler.toml in the working folder, or the nearest folder above it within the
repository or the home folder, and below that from the user's config folder. Keys are the names of options without
dashes; [profile.NAME] has the keys of \\fB\\-\\-profile\\fR. The command line overrides variables such as
SITE_CRAWLER_MAX_PAGES, which override the profile, which overrides the top of the file.
"""


def main(arguments: Sequence[str]) -> int:
    parser().parse_args(arguments)
    print(page(day_of_build()))
    return 0


def day_of_build() -> date:
    """Today, unless the variable of reproducible builds names a time."""
    return datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), UTC).date()


def parser() -> ArgumentParser:
    return new_parser("site-crawler man", "Print the man page in troff format.", EPILOG)


def page(day: date) -> str:
    """The page in the macros of man(7)."""
    lines = [
        f'.TH SITE\\-CRAWLER 1 "{day}" "Site Crawler {__version__}"',
        *(".SH NAME", f"site\\-crawler \\- {_text(site_crawler.ABOUT)}"),
        *(".SH SYNOPSIS", ".B site\\-crawler", "COMMAND [options]"),
        *(".SH DESCRIPTION", DESCRIPTION.strip()),
    ]
    top = _commands(site_crawler.parser())
    below = _commands(top.pop("admin"))
    for heading, before, commands in (("COMMANDS", "", top), ("COMMANDS FOR OPERATORS", "admin ", below)):
        lines.append(f".SH {heading}")
        for name, command in commands.items():
            lines += _command(f"{before}{name}", command)
    lines += [".SH CONFIGURATION FILE", CONFIGURATION.strip()]
    return "\n".join(lines)


def _commands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """The parsers below this one, each by its first name."""
    places = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    return {parser.prog.split()[-1]: parser for place in places for parser in place.choices.values()}


def _command(name: str, parser: ArgumentParser) -> Iterator[str]:
    words = " ".join(filter(None, [f"\\fB{PROGRAM} {name}\\fR", *map(_synopsis, parser._actions)]))
    yield f".SS {_text(name)}"
    yield words.replace("-", "\\-")
    yield ".PP"
    yield _text(parser.description or "")
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if _is_shown(action)]
        if shown and group not in parser._action_groups[:2]:
            yield from (".PP", f"{_text(group.title or '')}:")
        for action in shown:
            yield from (".TP", _typed(action), _text((action.help or "") % {"prog": PROGRAM}))
    if parser.epilog:
        yield from (".PP", ".nf", _text(parser.epilog.strip()), ".fi")
    for below, nested in _commands(parser).items():
        yield from _command(f"{name} {below}", nested)


def _is_shown(action: Action) -> bool:
    return action.help != SUPPRESS and not isinstance(action, _SubParsersAction) and action.dest != "help"


def _synopsis(action: Action) -> str:
    """Of a positional argument; the options are one word."""
    if isinstance(action, _SubParsersAction):
        return f"\\fI{action.metavar}\\fR"
    if action.option_strings:
        return "[options]" if action.dest == "help" else ""
    name = f"\\fI{action.metavar}\\fR"
    return {"*": f"[{name} ...]", "?": f"[{name}]"}.get(str(action.nargs), name)


def _typed(action: Action) -> str:
    value = "" if action.nargs == 0 else f" \\fI{_text(str(action.metavar or action.dest.upper()))}\\fR"
    flags = [f"\\fB{_text(flag)}\\fR{value}" for flag in action.option_strings]
    return ", ".join(flags) or value.strip()


def _text(plain: str) -> str:
    """As troff reads it: no character is a command, and each "-" is that of the keyboard."""
    escaped = plain.replace("\\", "\\e").replace("-", "\\-")
    escaped = re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", escaped)
    return re.sub(r"(?m)^(?=[.'])", r"\\&", escaped)
