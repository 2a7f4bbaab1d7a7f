"""`crawl --list`: opens the list, shows the progress of the import, and prints its result."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from crawler.core.errors import BadInput
from crawler.core.url_lists.entries import Invalid, ListReport, storable
from crawler.core.url_lists.reader import ColumnChoice
from crawler.crawls.import_urls import load_list
from crawler.encryption import seal
from crawler.exports.file import reason
from crawler.management.crawl_options import chosen
from crawler.management.display import LINE_INTERVAL_S
from crawler.management.inputs import credentials_of
from crawler.models import Crawl
from crawler.reports import text

STDIN = "-"
MAX_SHOWN_LINES = 5  # invalid lines that are printed


def load(typed: dict[str, Any], say: Callable[[str], None], *, is_terminal: bool) -> Crawl:
    """The crawl of the given list, once all of it is imported."""
    with ExitStack() as stack:
        stream = stack.enter_context(opened(typed["list"]))
        invalid_lines = _InvalidLinesFile(typed["invalid"])
        stack.callback(invalid_lines.close)
        reading = stack.enter_context(_shown(say, is_terminal=is_terminal))

        def on_chunk(report: ListReport, invalid: Sequence[Invalid]) -> None:
            invalid_lines.write(invalid)
            reading(report)

        crawl = load_list(
            stream,
            "stdin" if typed["list"] == STDIN else Path(typed["list"]).name,
            chosen(typed),
            columns=ColumnChoice(typed["list_column"], typed["priority_column"]),
            allow_private=typed["allow_private"],
            sealed=seal(credentials_of(typed)),
            on_chunk=on_chunk,
        )
    for line in result_lines(crawl, typed["invalid"]):
        say(line)
    return crawl


def result_lines(crawl: Crawl, target: str | None) -> list[str]:
    """The result of an import in one line, and its first invalid lines."""
    report = crawl.source_report
    first = [f"line {invalid['line']:,}: {invalid['why']}" for invalid in report["examples"][:MAX_SHOWN_LINES]]
    more = report["invalid"] - len(first)
    if more:
        where = f"all of them are in {target}" if target else "--invalid FILE writes all of them"
        first.append(f"and {text.counted(more, 'more line')}; {where}")
    return [text.list_read(report) + ".", *(f"  {line}" for line in first)]


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    if path == STDIN:
        yield sys.stdin.buffer
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 (closed below)
    except (OSError, ValueError) as error:
        raise BadInput("list", f"{path} cannot be read: {reason(error)}.") from None
    with stream:
        yield stream


class _InvalidLinesFile:
    """The file for invalid lines: number, reason and line. It is created with the first lines read, so that an
    unreadable list does not overwrite an older file."""

    def __init__(self, target: str | None) -> None:
        self._target = target
        self._file: TextIO | None = None

    def write(self, invalid: Sequence[Invalid]) -> None:
        if self._target is None:
            return
        if self._file is None:
            self._file = Path(self._target).open("w", encoding="utf-8", errors="replace")  # noqa: SIM115 (`close`)
        self._file.writelines(f"{item.line}\t{storable(item.why)}\t{storable(item.text)}\n" for item in invalid)
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@contextmanager
def _shown(say: Callable[[str], None], *, is_terminal: bool) -> Iterator[Callable[[ListReport], None]]:
    """Show the progress of reading: a bar on a terminal, else a line now and then."""
    began = printed_at = time.monotonic()

    def line(report: ListReport) -> str:
        rate = report.lines / max(time.monotonic() - began, 0.001)
        return f"{text.list_read(report.to_counts())}, at {rate:,.0f} lines/s"

    def print_line(report: ListReport) -> None:
        nonlocal printed_at
        if time.monotonic() - printed_at >= LINE_INTERVAL_S:
            printed_at = time.monotonic()
            say(f"after {text.duration(printed_at - began)}: {line(report)}")

    if not is_terminal:
        yield print_line
        return
    from crawler.management.progress_bar import LiveLines  # of no use in other crawls

    with LiveLines(sys.stderr) as live:
        live.draw(None, "reading the list")
        yield lambda report: live.draw(None, line(report))
