"""Terminal output: progress lines for logs and pipes, and tables."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, Self

from crawler import clock
from crawler.core.text.sanitize import one_line
from crawler.exports.csv import Cells
from crawler.models import Crawl, Page, Schedule
from crawler.reports import text as words
from crawler.reports.progress import progress_of, standing_of

_DEAD_LETTER = "{:>9}  {:<20}  {:>5}  {}\n"
_CRAWL = "{:<36}  "


def progress_line(progress: dict[str, Any]) -> str:
    """The progress of a crawl (see `reports.progress`) in one line."""
    stands = words.progress_text(progress["done"], progress["total"], at_most=progress["at_most"])
    parts = [stands if progress["rate"] is None else f"{stands} at {words.rate(progress['rate'])}"]
    if progress["receipt"]["failed"]:
        parts.append(f"{words.count(progress['receipt']['failed'])} failed")
    if progress["eta"] is not None:
        parts.append(f"about {words.duration(progress['eta'])} left")
    return ", ".join(parts)


def crawl_table(crawls: Sequence[Crawl]) -> str:
    """Crawls as an aligned table, one per line."""
    head = ("ID", "STATE", "STARTED (UTC)", "PAGES", "CLOSED", "SITE")
    return words.aligned([head, *(_crawl_row(crawl) for crawl in crawls)])


def _crawl_row(crawl: Crawl) -> tuple[str, ...]:
    stands = standing_of(crawl)
    more = f" and {len(crawl.start_urls) - 1} more" if len(crawl.start_urls) > 1 else ""
    return (
        str(crawl.id),
        str(crawl.state),
        f"{crawl.created_at:%Y-%m-%d %H:%M:%S}",
        words.count(stands.total) + (" at most" if stands.at_most else ""),
        words.count(stands.done),
        crawl.site + more,
    )


def dead_letter_head(*, of_all: bool) -> str:
    """The head of a list of dead letters; with their crawls if it is of all crawls."""
    return (_CRAWL.format("CRAWL") if of_all else "") + _DEAD_LETTER.format("PAGE", "ANSWER", "TRIES", "URL")


def dead_letter_line(page: Page, *, of_all: bool) -> str:
    """A dead letter as a line below that, with fixed widths: there may be a million of them."""
    answer = str(page.http_status) if page.http_status else words.outcome(page.outcome)
    why = f"  ({page.error.rstrip('.')})" if page.error else ""
    line = _DEAD_LETTER.format(page.pk, answer, page.attempts, one_line(page.url + why))
    return _CRAWL.format(str(page.crawl_id)) + line if of_all else line


def dead_letter(page: Page) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "crawl": str(page.crawl_id),
        "page": page.pk,
        "url": page.url,
        "outcome": page.outcome,
        "http_status": page.http_status,
        "attempts": page.attempts,
        "error": page.error,
    }


def schedule_table(schedules: Iterable[Schedule]) -> str:
    """Schedules as an aligned table, one per line."""
    head = ("ID", "RULE", "NEXT (UTC)", "LAST RUN (UTC)", "SITE", "")
    return words.aligned([head, *(_schedule_row(schedule) for schedule in schedules)])


def _schedule_row(schedule: Schedule) -> tuple[str, ...]:
    last = _last_run(schedule)
    return (
        str(schedule.id),
        schedule.rule,
        minute(schedule.next_at) if schedule.enabled else "paused",
        f"{minute(last.created_at)} {last.state}" if last else words.DASH,
        schedule.start_urls[0],
        schedule.last_error,
    )


def schedule(schedule: Schedule) -> dict[str, Any]:
    """The same as JSON."""
    last = _last_run(schedule)
    return {
        "id": str(schedule.id),
        "start_urls": schedule.start_urls,
        "rule": schedule.rule,
        "enabled": schedule.enabled,
        "next_at": schedule.next_at.isoformat(timespec="seconds") if schedule.enabled else None,
        "last_run": str(last.id) if last else None,
        "last_error": schedule.last_error,
    }


def minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _last_run(schedule: Schedule) -> Crawl | None:
    return schedule.runs.order_by("-created_at").first()


LINE_INTERVAL_S = 10.0  # between two progress lines


class Display(ABC):
    """Shows the progress of one crawl. A context manager."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    @abstractmethod
    def show(self, crawl: Crawl) -> None: ...
    @abstractmethod
    def show_reason(self, line: str) -> None:
        """Show why no page closes; "" = pages close."""

    @abstractmethod
    def note(self, line: str) -> None: ...


class PeriodicLines(Display):
    """Prints a line every LINE_INTERVAL_S seconds, for logs and pipes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = self._printed_at = time.monotonic()
        self._why, self._is_new = "", False

    def show(self, crawl: Crawl) -> None:
        now = time.monotonic()
        if now - self._printed_at < LINE_INTERVAL_S and not self._is_new:
            return
        self._printed_at, self._is_new = now, False
        line = progress_line(progress_of(crawl, clock.epoch_seconds()))
        why = f". {self._why}" if self._why else ""
        self._say(f"after {words.duration(now - self._began)}: {line}{why}")

    def show_reason(self, line: str) -> None:
        self._is_new = bool(line) and not self._why
        self._why = line

    def note(self, line: str) -> None:
        self._say(line)


def display_for(is_terminal: bool, say: Callable[[str], None]) -> Display:
    if not is_terminal or os.environ.get("TERM") == "dumb":  # as in Emacs
        return PeriodicLines(say)
    from crawler.management.progress_bar import Bar  # of no use in other crawls

    return Bar()


ROWS_PER_BLOCK = 500  # aligned with each other
MAX_CELL_LENGTH = 120  # characters; URLs are not truncated


def table_of(names: Sequence[str], rows: Iterable[Cells]) -> Iterator[str]:
    """Rows below the names of their columns, as an aligned table in blocks of lines."""
    lines = chain([tuple(names)], (tuple(map(_shown, row)) for row in rows))
    while part := list(islice(lines, ROWS_PER_BLOCK)):
        yield words.aligned(part)


def _shown(cell: str | int | None) -> str:
    """On one line, without terminal control characters: the text comes from crawled sites."""
    text = "" if cell is None else " ".join(str(cell).split())
    text = "".join(letter for letter in text if letter.isprintable())
    is_short = len(text) <= MAX_CELL_LENGTH or text.startswith(("http://", "https://"))
    return text if is_short else f"{text[: MAX_CELL_LENGTH - 1]}…"
