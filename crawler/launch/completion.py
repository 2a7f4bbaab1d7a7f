"""`site-crawler completion`: prints what a shell needs to complete commands, options and their values."""

from __future__ import annotations

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator, Sequence

from crawler.launch import site_crawler
from crawler.management.parsers import new_parser, summary

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
examples:
  site-crawler completion bash > ~/.local/share/bash-completion/completions/site-crawler
  site-crawler completion zsh > ~/.zfunc/_site-crawler
  site-crawler completion fish > ~/.config/fish/completions/site-crawler.fish

zsh reads ~/.zfunc if ~/.zshrc has: fpath+=~/.zfunc; autoload -Uz compinit; compinit
Print the script again after an upgrade.

exit codes:
  0    the script is on stdout
  2    the shell is not supported
"""


def main(arguments: Sequence[str]) -> int:
    print(script(parser().parse_args(arguments).shell))
    return 0


def parser() -> ArgumentParser:
    parser = new_parser("site-crawler completion", "Print the completion script of a shell.", EPILOG)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    return parser


def script(shell: str) -> str:
    import shtab  # the other commands need it not

    whole = site_crawler.parser()
    for parser in _parsers(whole):
        parser.description = summary(parser.description or "")
        for action in parser._actions:
            if action.metavar == "FILE":
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab looks for this
    return shtab.complete(whole, shell)


def _parsers(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """This one, and all below it."""
    yield parser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for below in action.choices.values():
                yield from _parsers(below)
