"""The progress bar of a terminal: a line that is drawn again, with a second one for the reason of a wait."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Sequence
from itertools import cycle
from typing import Self, TextIO

import msgspec

from crawler import clock
from crawler.core.text.sanitize import lines, one_line
from crawler.management.display import Display, progress_line
from crawler.models import Crawl
from crawler.reports.progress import progress_of

DRAW_INTERVAL_S = 0.1
USUAL_WIDTH = 80  # characters; of a terminal that does not say it
MIN_BAR_WIDTH = 5  # a narrower one is left out

# Control sequences of ECMA-48, which all terminals of today have.
CLEAR_BELOW = "\r\x1b[J"
UP = "\x1b[{}A"
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"  # a line that is too long, such as one of wide letters, stays one line


class Letters(msgspec.Struct, frozen=True):
    """What a bar is made of."""

    bar: str
    spinner: str


FINE, ASCII = Letters("━", "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), Letters("=", "|/-\\")


def bar_line(spinner: str, letter: str, share: float | None, description: str, width: int) -> str:
    """The spinner, a bar whose done part is bright, and the description, in so many characters. `share`: from 0 to 1;
    None = unknown."""
    room = width - len(description) - 3
    if room < MIN_BAR_WIDTH:
        return f"{spinner} {description}"
    done = round(room * (share or 0.0))
    return f"{spinner} {letter * done}{DIM}{letter * (room - done)}{PLAIN} {description}"


class LiveLines:
    """The last lines of a terminal: drawn again and again, and erased at the end. A context manager."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._letters = FINE if "utf" in (out.encoding or "").lower() else ASCII
        self._spinner = cycle(self._letters.spinner)
        self._rows = 0  # drawn
        self._drawn_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._write(self._erased())

    def draw(self, share: float | None, description: str, reason: str = "") -> None:
        """Draw the bar, with the reason below it; not more often than every DRAW_INTERVAL_S."""
        if time.monotonic() - self._drawn_at < DRAW_INTERVAL_S:
            return
        self._drawn_at = time.monotonic()
        shown = self.lines(share, description, reason, self._width())
        erased = self._erased()
        self._rows = len(shown)
        self._write(erased + NO_WRAP + "\n".join(shown) + WRAP)

    def lines(self, share: float | None, description: str, reason: str, width: int) -> Sequence[str]:
        """What is drawn on a terminal of this width."""
        bar = bar_line(next(self._spinner), self._letters.bar, share, description, width - 1)
        return [bar, *textwrap.wrap(reason, max(1, width - 1))]

    def print(self, text: str) -> None:
        """Print a line above them."""
        self._write(f"{self._erased()}{text}\n")
        self._drawn_at = 0.0

    def _erased(self) -> str:
        """What erases them."""
        up, self._rows = self._rows - 1, 0
        return (UP.format(up) if up > 0 else "") + CLEAR_BELOW

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).columns or USUAL_WIDTH
        except (OSError, ValueError):  # not a terminal
            return USUAL_WIDTH

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


class Bar(Display):
    """A progress bar that disappears when the crawl is over. Its total grows while links are found."""

    def __init__(self) -> None:
        self.live = LiveLines(sys.stderr)
        self._reason = ""

    def __exit__(self, *raised: object) -> None:
        self.live.__exit__(*raised)

    def show(self, crawl: Crawl) -> None:
        progress = progress_of(crawl, clock.epoch_seconds())
        share = min(1.0, progress["done"] / progress["total"]) if progress["total"] else None
        self.live.draw(share, progress_line(progress), self._reason)

    def show_reason(self, line: str) -> None:
        self._reason = one_line(line)

    def note(self, line: str) -> None:
        self.live.print(lines(line))
