"""How a waiting person sees what goes on: a progress bar on a terminal, else a plain line now and then. On stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from crawler import clock
from crawler.core.visible import lines, one_line
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
    def tell_why(self, line: str) -> None:
        """Why no page closes; "" = pages close."""

    def note(self, line: str) -> None: ...


class _WithReason(Progress):
    """Has a second line below the bar while there is something to say."""

    reason = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.reason:
            yield Text(self.reason)


class Bar:
    """A progress bar that goes away when the crawl is over. The number of pages grows while links are found."""

    def __init__(self) -> None:
        self.progress = _WithReason(
            SpinnerColumn(),
            BarColumn(bar_width=None),
            TextColumn("{task.description}", markup=False),
            console=Console(file=sys.stderr),
            transient=True,
            expand=True,
        )
        self._task = self.progress.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def show(self, crawl: Crawl) -> None:
        progress = progress_of(crawl, clock.epoch_seconds())
        self.progress.update(
            self._task,
            description=wording.progress_line(progress),
            completed=progress["done"],
            total=progress["total"],
        )

    def tell_why(self, line: str) -> None:
        self.progress.reason = one_line(line)

    def note(self, line: str) -> None:
        self.progress.console.print(lines(line), markup=False, highlight=False, soft_wrap=True)


class Lines:
    """A plain line every SPACING seconds, for logs and pipes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = self._said_at = time.monotonic()
        self._why, self._is_new = "", False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def show(self, crawl: Crawl) -> None:
        now = time.monotonic()
        if now - self._said_at < SPACING and not self._is_new:
            return
        self._said_at, self._is_new = now, False
        line = wording.progress_line(progress_of(crawl, clock.epoch_seconds()))
        why = f". {self._why}" if self._why else ""
        self._say(f"after {words.duration(now - self._began)}: {line}{why}")

    def tell_why(self, line: str) -> None:
        self._is_new = bool(line) and not self._why
        self._why = line

    def note(self, line: str) -> None:
        self._say(line)


def display_for(is_terminal: bool, say: Callable[[str], None]) -> Display:
    return Bar() if is_terminal else Lines(say)
