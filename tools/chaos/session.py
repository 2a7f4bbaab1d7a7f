"""The runs of a command, from the first to the report. One that breaks a promise is explained, and its folder kept."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from tools.chaos.scene import Struck

LOG_LINES = 15  # of each process, shown when a run fails
OF_SESSION = frozenset({"runs", "seed", "json", "markdown", "scenario", "mixture"})  # a repeated run has its own

Row = Sequence[str]


@dataclass(frozen=True)
class Report:
    is_good: bool  # whether every promise was kept, in every run
    head: Row
    rows: Sequence[Row]
    plain: Mapping[str, Any]  # for JSON
    notes: Sequence[str] = ()  # lines below the table

    def text(self) -> str:
        rows = [self.head, *self.rows] if any(self.head) else self.rows
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*(line.rstrip() for line in lines), *self.notes])

    def markdown(self) -> str:
        head, *rows = [f"| {' | '.join(row)} |\n" for row in (self.head, *self.rows)]
        return "".join([head, "|---" * len(self.head), "|\n", *rows])


class Result(Protocol):
    @property
    def summary(self) -> str: ...

    @property
    def faults(self) -> Sequence[str]:
        """A sentence for each promise that was broken."""

    @property
    def struck(self) -> Sequence[Struck]: ...


R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Run(Generic[R]):
    """A run to come. It leaves its folder behind."""

    title: str
    folder: Path
    again: str  # the command that repeats it
    go: Callable[[], R]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def add_arguments(parser: argparse.ArgumentParser, runs: str) -> None:
    """What both commands take."""
    parser.add_argument("--runs", type=int, default=1, metavar="N", help=f"{runs} (default: 1)")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of the first run, the next have S+1, S+2, ...")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured to this file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")


def parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    given = parser.parse_args(words)
    if given.seed is None:
        given.seed = random.randrange(1_000_000)
    return given


def repeated(command: str, seed: int, given: argparse.Namespace) -> str:
    """The command that repeats one run with the same options."""
    named = {f"--{name.replace('_', '-')}": value for name, value in vars(given).items() if name not in OF_SESSION}
    options = [name if value is True else f"{name} {value}" for name, value in named.items() if value]
    return " ".join([command, "--seed", str(seed), *options])


@contextmanager
def work_folder(command: str) -> Iterator[Path]:
    """A new folder, removed again unless a run was kept there. Signals end the session, with exit code 130."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    folder = Path(tempfile.mkdtemp(prefix=f"{command}-"))
    folder.chmod(0o755)  # PostgreSQL runs as another user
    try:
        yield folder
    except KeyboardInterrupt:
        say("interrupted; everything has ended")
        sys.exit(130)
    finally:
        for each in folder.glob("template*"):
            shutil.rmtree(each)
        if not list(folder.glob("run-*")):
            shutil.rmtree(folder)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def all_of(runs: Sequence[Run[R]], given: argparse.Namespace, report_of: Callable[[Sequence[R]], Report]) -> int:
    """Do the runs, and report those that came to an end; the exit code."""
    results: list[R] = []
    try:
        for number, run in enumerate(runs, start=1):
            say(f"run {number}/{len(runs)}: {run.title}")
            results.append(done(run))
    finally:
        report = report_of(results)
        if given.json:
            given.json.write_text(json.dumps(report.plain, indent=1, default=str))
        if given.markdown:
            given.markdown.write_text(report.markdown())
        print(report.text(), flush=True)
    return 0 if report.is_good else 1


def done(run: Run[R]) -> R:
    try:
        result = run.go()
    except KeyboardInterrupt:
        shutil.rmtree(run.folder, ignore_errors=True)  # an interrupted run proves nothing
        raise
    say(f"  {result.summary}")
    if result.faults:
        _explain(run, result)
    else:
        shutil.rmtree(run.folder)
    return result


def _explain(run: Run[R], result: Result) -> None:
    for fault in result.faults[:20]:
        say(f"  FAULT {fault}")
    for struck in result.struck:
        say(f"  {struck.began:.3f} {struck.kind}: {struck.what}")
    for log in sorted(run.folder.rglob("*.log")):
        if lines := log.read_text(errors="replace").splitlines()[-LOG_LINES:]:
            say(f"  --- {log.relative_to(run.folder)}")
            for line in lines:
                say(f"  {line[:300]}")
    say(f"  kept: {run.folder}; once more: {run.again}")
