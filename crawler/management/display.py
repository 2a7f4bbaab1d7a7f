"""How a waiting person sees what goes on: a progress bar on a terminal, else a plain line now and then. On stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from crawler.core.visible import lines
from crawler.management import wording
from crawler.models import Crawl
from crawler.reports import words
from crawler.reports.progress import progress_of

SPACING = 10.0  # seconds between two plain lines


class Display(Protocol):
    """Shows one crawl while it is a context."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def show(self, crawl: Crawl) -> None: ...
    def note(self, line: str) -> None: ...


class Bar:
    """A progress bar that goes away when the crawl is over. The number of pages grows while links are found."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=None),
            TextColumn("{task.description}", markup=False),
            console=Console(file=sys.stderr),
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, crawl: Crawl) -> None:
        progress = progress_of(crawl, time.time())
        self._progress.update(
            self._task,
            description=wording.progress_line(progress),
            completed=progress["closed"],
            total=progress["discovered"],
        )

    def note(self, line: str) -> None:
        self._progress.console.print(lines(line), markup=False, highlight=False, soft_wrap=True)


class Lines:
    """A plain line every SPACING seconds, for logs and pipes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = self._said_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def show(self, crawl: Crawl) -> None:
        now = time.monotonic()
        if now - self._said_at < SPACING:
            return
        self._said_at = now
        line = wording.progress_line(progress_of(crawl, time.time()))
        self._say(f"after {words.duration(now - self._began)}: {line}")

    def note(self, line: str) -> None:
        self._say(line)


def display_for(is_terminal: bool, say: Callable[[str], None]) -> Display:
    return Bar() if is_terminal else Lines(say)
