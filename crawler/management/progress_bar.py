"""The progress bar of a terminal. It loads rich, which takes as long as a request."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from crawler import clock
from crawler.core.text.sanitize import lines, one_line
from crawler.management.display import Display, progress_line
from crawler.models import Crawl
from crawler.reports.progress import progress_of


class _WithReason(Progress):
    """Has a second line below the bar for the reason of a wait."""

    reason = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.reason:
            yield Text(self.reason)


class Bar(Display):
    """A progress bar that disappears when the crawl is over. Its total grows while links are found."""

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

    def __exit__(self, *raised: object) -> None:
        self.progress.stop()

    def show(self, crawl: Crawl) -> None:
        progress = progress_of(crawl, clock.epoch_seconds())
        self.progress.update(
            self._task,
            description=progress_line(progress),
            completed=progress["done"],
            total=progress["total"],
        )

    def show_reason(self, line: str) -> None:
        self.progress.reason = one_line(line)

    def note(self, line: str) -> None:
        self.progress.console.print(lines(line), markup=False, highlight=False, soft_wrap=True)
