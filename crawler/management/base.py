"""What all our commands share: one line on stderr in place of a traceback, the exit codes, and help without noise."""

from __future__ import annotations

import logging
import os
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, NoReturn
from uuid import UUID

from django.core.management.base import BaseCommand, DjangoHelpFormatter
from django.db import InterfaceError, OperationalError, ProgrammingError
from redis.exceptions import RedisError

from crawler.accounts import audit
from crawler.core.errors import BadInput, LoadStopped, ServiceDown
from crawler.core.installation.backpressure import remedy, sentence
from crawler.core.text.sanitize import lines
from crawler.crawls.holds import database_error_message, shortage_of
from crawler.exports import file
from crawler.exports.file import Piece
from crawler.models import Crawl
from crawler.queueing.workers import live_workers
from crawler.reports.text import Reply
from crawler.storage.database import is_lock_timeout

NOT_ANSWERING = (ServiceDown, OperationalError, InterfaceError, ProgrammingError, RedisError)
"""What is raised when Redis or the database is away, or has no tables yet."""

NO_WORKER = "No worker is running; start one in the project folder: bin/worker"


class Exit(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    NOT_DONE = 1  # the crawl did not finish, or there was nothing to crawl, or a service is down
    BAD_USAGE = 2  # what was typed cannot be used; nothing was made
    INTERRUPTED = 128 + signal.SIGINT  # Ctrl-C
    TERMINATED = 128 + signal.SIGTERM


class Ended(Exception):
    """The command ends here, with this exit code and this line on stderr."""

    def __init__(self, code: int, line: str) -> None:
        super().__init__(line)
        self.code = code


class _Help(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the line breaks of examples, and each option on one line with its help."""

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, max_help_position=29, **more)


@contextmanager
def _without_chatter() -> Iterator[None]:
    """A command says itself what it did: of the log only warnings are shown, unless somebody asked for more of it."""
    log = logging.getLogger("crawler")
    before = log.level
    if before == logging.INFO:
        log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)


class Door(BaseCommand):
    """A command that parses, calls one verb and prints. Subclasses write `perform`; `examples` end the help text."""

    examples = ""
    synopsis: str | None = None  # the usage line; None = argparse's own
    requires_system_checks: list[str] = []  # settings that cannot be used have stopped the start already
    suppressed_base_arguments = {
        "--version",
        "--verbosity",
        "--settings",
        "--pythonpath",
        "--traceback",
        "--no-color",
        "--force-color",
    }

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        parser = super().create_parser(
            prog_name,
            subcommand.replace("_", "-"),
            formatter_class=_Help,
            usage=self.synopsis,
            epilog=self.examples,
            allow_abbrev=False,
            **kwargs,
        )
        one_line_errors(parser)
        return parser

    def perform(self, options: dict[str, Any]) -> int:
        """Do the work and return the exit code. Each command brings its own."""
        raise NotImplementedError(f"{type(self).__module__} does not say what it does")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with _without_chatter(), audit.by_command():
                code = self._perform(options)
        except Ended as ended:
            code = ended.code
            self.say_wrong(str(ended))
        if code:
            raise SystemExit(int(code))

    def _perform(self, options: dict[str, Any]) -> int:
        try:
            return self.perform(options)
        except BadInput as error:
            raise Ended(Exit.BAD_USAGE, str(error)) from None
        except LoadStopped as error:
            raise Ended(Exit.NOT_DONE, str(error)) from None
        except BrokenPipeError:  # whoever read our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return Exit.NOT_DONE
        except NOT_ANSWERING as error:
            if options.get("traceback"):
                raise
            raise Ended(Exit.NOT_DONE, in_one_line(error)) from None
        except KeyboardInterrupt:
            raise Ended(Exit.INTERRUPTED, "Interrupted.") from None

    def say(self, line: str) -> None:
        """A line on stderr that is no error. What strangers wrote moves no cursor, here and below."""
        self.stderr.write(lines(line), str)

    def say_wrong(self, line: str) -> None:
        self.stderr.write(lines(line))

    def print(self, text: str) -> None:
        """Text on stdout."""
        self.stdout.write(lines(text), ending="")

    def tell(self, reply: Reply) -> int:
        """The answer to a verb, and the exit code: done when things are now as they were asked to be."""
        if not reply.is_so:
            raise Ended(Exit.NOT_DONE, reply.line)
        self.print(f"{reply.line}\n")
        return Exit.DONE

    def mention_workers(self) -> None:
        """Say so when there is nobody who would do what was just asked for."""
        if live_workers() == 0:
            self.say(NO_WORKER)

    def save(self, target: str, pieces: Iterable[Piece]) -> None:
        """Write an export to a file, or to stdout for "-"; ends the command when that does not work."""
        if target == "-":
            for piece in pieces:
                self._pass_on(piece)
            return
        try:
            file.write(target, pieces)
        except OSError as error:
            why = f"{target} could not be written: {file.reason(error)}."
            raise Ended(Exit.NOT_DONE, f"{why} What was there before is untouched; name another file.") from None

    def _pass_on(self, piece: Piece) -> None:
        """As it is, unless it is looked at."""
        if isinstance(piece, bytes):
            self.stdout.buffer.write(piece)  # type: ignore[attr-defined]  # of the stream behind it
        else:
            self.stdout.write(lines(piece) if self.stdout.isatty() else piece, ending="")


def one_line_errors(parser: ArgumentParser) -> None:
    """What cannot be used is told in one line, without the usage before it."""

    def one_line(message: str) -> NoReturn:
        sys.stderr.write(f"{message[:1].upper()}{message[1:]} (see {parser.prog.strip()} --help)\n")
        raise SystemExit(Exit.BAD_USAGE)

    parser.error = one_line  # type: ignore[method-assign]  # Django makes the parser


def add_crawl(parser: ArgumentParser) -> None:
    """The argument by which a command is told which crawl is meant; `crawl_of` reads it."""
    parser.add_argument("id", metavar="ID", help="the crawl")


def crawl_of(typed: str) -> Crawl:
    """The crawl with the id a person typed; BadInput when there is none."""
    try:
        return Crawl.objects.get(pk=UUID(typed))
    except (ValueError, Crawl.DoesNotExist):
        raise BadInput("id", f"There is no crawl {typed!r}; `manage.py status` lists them.") from None


def in_one_line(error: Exception) -> str:
    """What is wrong with a service, for a person."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    match error:
        case ServiceDown():
            return f"{first}."
        case _ if (short := shortage_of(error)) is not None:
            return f"{sentence(short)} {remedy(short)}."
        case _ if is_lock_timeout(error):
            return database_error_message(error)
        case RedisError():
            return f"Redis does not answer: {first}."
        case _:
            return f"The database does not answer as it should: {first}. Is it set up? python manage.py migrate"
