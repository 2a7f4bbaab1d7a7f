"""The base classes of the commands: error messages in one line instead of a traceback, exit codes, help format."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from inspect import cleandoc
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, DjangoHelpFormatter
from django.db import InterfaceError, OperationalError, ProgrammingError
from redis.exceptions import RedisError

from crawler import __version__
from crawler.accounts import audit
from crawler.command_names import as_typed
from crawler.core.errors import BadInput, LoadStopped, NoCrawl, ServiceDown, first_line
from crawler.core.text.sanitize import lines
from crawler.crawls.actions import Action, reply_to
from crawler.crawls.holds import database_error_message, shortage_of
from crawler.exports import file
from crawler.exports.csv import Cells, json_lines
from crawler.exports.file import Piece
from crawler.frontier.autoscalers import has_autoscaler
from crawler.management.crawls import add_crawl, crawl_of
from crawler.management.display import table_of
from crawler.management.parsers import use_one_line_errors
from crawler.queueing import queues
from crawler.queueing.workers import live_workers
from crawler.reports.cause_text import remedy, shortage_text
from crawler.reports.explanation import AUTOSCALED
from crawler.reports.text import Reply
from crawler.storage.database import is_lock_timeout

SERVICE_ERRORS = (ServiceDown, OperationalError, InterfaceError, ProgrammingError, RedisError)
"""Raised if Redis or the database does not answer, or has no tables yet."""

NO_WORKER = "No worker is running; start one: bin/worker"


def no_worker() -> str:
    """What to tell a user while no worker is running."""
    return AUTOSCALED if has_autoscaler(queues.connection()) else NO_WORKER


class Exit(IntEnum):
    """Exit codes of the commands."""

    DONE = 0
    NOT_DONE = 1  # the crawl did not finish, there was nothing to crawl, or a service is down
    BAD_USAGE = 2  # invalid arguments; nothing was created
    INTERRUPTED = 128 + signal.SIGINT  # Ctrl-C


class ExitWith(Exception):
    """Raised to end the command with this exit code and this line on stderr."""

    def __init__(self, code: int, line: str) -> None:
        super().__init__(line)
        self.code = code


class _Help(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and puts each option and its help on one line."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, max_help_position=29, **more)


@contextmanager
def _warnings_only() -> Iterator[None]:
    """Log only warnings, unless CRAWLER_LOG_LEVEL asks for more: the command prints its own results."""
    log = logging.getLogger("crawler")
    before = log.level
    if before == logging.INFO:
        log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


class CrawlerCommand(BaseCommand):
    """A command that parses its arguments, calls one function and prints. Subclasses implement `perform`; their
    docstring is the help text: what the command does, and behind a blank line what follows the options."""

    examples = ""
    synopsis: str | None = None  # the usage line; None = argparse's own
    requires_system_checks: list[str] = []  # invalid settings have stopped the start already
    suppressed_base_arguments = {
        "--version",
        "--verbosity",
        "--settings",
        "--pythonpath",
        "--traceback",
        "--no-color",
        "--force-color",
    }

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        about, _, behind = cleandoc(cls.__doc__ or "").partition("\n\n")
        cls.help = cls.__dict__.get("help", about)
        cls.examples = cls.__dict__.get("examples", behind)

    def get_version(self) -> str:
        """This project's, not Django's."""
        return f"Site Crawler {__version__}"

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        parser = super().create_parser(
            prog_name,
            subcommand.replace("_", "-"),
            formatter_class=_Help,
            usage=as_typed(self.synopsis) if self.synopsis else None,
            epilog=as_typed(self.examples),
            allow_abbrev=False,
            **kwargs,
        )
        parser.description = as_typed(self.help)
        use_one_line_errors(parser)
        return parser

    def perform(self, options: dict[str, Any]) -> int:
        """Do the work and return the exit code."""
        raise NotImplementedError(f"{type(self).__module__} does not implement perform")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with _warnings_only(), audit.by_command():
                code = self._perform(options)
        except ExitWith as ended:
            code = ended.code
            self.say_error(str(ended))
        if code:
            raise SystemExit(int(code))

    def _perform(self, options: dict[str, Any]) -> int:
        try:
            return self.perform(options)
        except BadInput as error:
            raise ExitWith(Exit.BAD_USAGE, str(error)) from None
        except (LoadStopped, NoCrawl) as error:
            raise ExitWith(Exit.NOT_DONE, str(error)) from None
        except BrokenPipeError:  # the reader of stdout has exited, such as head
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.NOT_DONE
        except SERVICE_ERRORS as error:
            if options.get("traceback"):
                raise
            raise ExitWith(Exit.NOT_DONE, in_one_line(error)) from None
        except KeyboardInterrupt:
            raise ExitWith(Exit.INTERRUPTED, "Interrupted.") from None

    def say(self, line: str) -> None:
        """Print a line on stderr that is not an error; like all output, without terminal control characters."""
        self.stderr.write(as_typed(lines(line)), str)

    def say_error(self, line: str) -> None:
        self.stderr.write(as_typed(lines(line)))

    def print(self, output: str) -> None:
        """Print text on stdout."""
        self.stdout.write(lines(output), ending="")

    def print_json(self, value: Any, *, ensure_ascii: bool = True) -> None:
        """Print a value as one line of JSON."""
        self.print(json.dumps(value, ensure_ascii=ensure_ascii) + "\n")

    def print_rows(self, names: Sequence[str], rows: Iterable[Cells], *, as_json: bool) -> None:
        """Print rows below the names of their columns, or as one JSON object per line."""
        for piece in json_lines(names, rows) if as_json else table_of(names, rows):
            self.print(piece)

    def print_reply(self, reply: Reply) -> int:
        """Print the reply to an action; return the exit code. Ends the command with an error unless `reply.is_so`."""
        if not reply.is_so:
            raise ExitWith(Exit.NOT_DONE, reply.line)
        self.print(f"{reply.line}\n")
        return Exit.DONE

    def warn_without_workers(self) -> None:
        """Warn if no worker is running that would process the request."""
        if live_workers() == 0:
            self.say(no_worker())

    def save(self, target: str, pieces: Iterable[Piece]) -> None:
        """Write an export to a file, or to stdout for "-". Ends the command if that fails."""
        if target == "-":
            for piece in pieces:
                self._write_piece(piece)
            return
        try:
            file.write(target, pieces)
        except OSError as error:
            why = f"{target} could not be written: {file.reason(error)}."
            raise ExitWith(Exit.NOT_DONE, f"{why} The previous file is unchanged; choose another file.") from None

    def _write_piece(self, piece: Piece) -> None:
        """Unchanged, except on a terminal."""
        if isinstance(piece, bytes):
            self.stdout.buffer.write(piece)  # type: ignore[attr-defined]  # of the underlying stream
        else:
            self.stdout.write(lines(piece) if self.stdout.isatty() else piece, ending="")


class ActionCommand(CrawlerCommand):
    """A command that does one action with a crawl."""

    action: ClassVar[Action]

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_crawl(parser)

    def perform(self, options: dict[str, Any]) -> int:
        crawl = crawl_of(options["id"])
        code = self.print_reply(reply_to(self.action, self.action.run(crawl.id), crawl.id))
        if self.action.needs_worker:
            self.warn_without_workers()
        return code


def command_of(action: Action, about: str) -> type[ActionCommand]:
    """The command of an action, for the module in `commands` by which Django finds it."""
    help_text = _HELP.format(about=about, name=action.name, reached=action.reached, refused=action.refused)
    return type("Command", (ActionCommand,), {"action": action, "__doc__": help_text})


_HELP = """\
{about}

examples:
  python manage.py {name} 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

exit codes:
  0    {reached}
  1    {refused}
  2    there is no such crawl
"""


def in_one_line(error: Exception) -> str:
    """The error of a service in one line for the user."""
    first = first_line(error)
    match error:
        case ServiceDown():
            return f"{first}."
        case _ if (short := shortage_of(error)) is not None:
            return f"{shortage_text(short)} {remedy(short)}."
        case _ if is_lock_timeout(error):
            return database_error_message(error)
        case RedisError():
            return f"Redis does not respond: {first}."
        case OperationalError() | ProgrammingError() if _MISSING_TABLE.match(first):
            return f"The database is not set up ({first}). bin/crawl and bin/up do that, or: python manage.py migrate"
        case _:
            return f"The database reports an error: {first}."


_MISSING_TABLE = re.compile(r"no such (?:table|column)|(?:relation|column) \S+ does not exist")  # SQLite, PostgreSQL
