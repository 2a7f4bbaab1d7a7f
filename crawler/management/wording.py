"""What only a terminal shows of crawls: the line beside the progress bar, the tables of crawls and of dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from crawler.core.visible import one_line
from crawler.models import Crawl, Page, Schedule
from crawler.reports import words
from crawler.reports.progress import standing_of

_DEAD_LETTER = "{:>9}  {:<20}  {:>5}  {}\n"
DEAD_LETTER_HEAD = _DEAD_LETTER.format("PAGE", "ANSWER", "TRIES", "URL")


def progress_line(progress: dict[str, Any]) -> str:
    """Where a crawl stands (see `reports.progress`), in one line."""
    stands = words.how_far(progress["done"], progress["total"], at_most=progress["at_most"])
    parts = [stands if progress["rate"] is None else f"{stands} at {words.rate(progress['rate'])}"]
    if progress["receipt"]["failed"]:
        parts.append(f"{words.count(progress['receipt']['failed'])} failed")
    if progress["eta"] is not None:
        parts.append(f"about {words.duration(progress['eta'])} left")
    return ", ".join(parts)


def crawl_table(crawls: Sequence[Crawl]) -> str:
    """Crawls as an aligned table, one a line."""
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


def dead_letter_line(page: Page) -> str:
    """A dead letter as a line below DEAD_LETTER_HEAD: fixed widths, because there may be a million of them."""
    answer = str(page.http_status) if page.http_status else words.outcome(page.outcome)
    why = f"  ({page.error.rstrip('.')})" if page.error else ""
    return _DEAD_LETTER.format(page.pk, answer, page.attempts, one_line(page.url + why))


def dead_letter(page: Page) -> dict[str, Any]:
    """The same for programs."""
    return {
        "page": page.pk,
        "url": page.url,
        "outcome": page.outcome,
        "http_status": page.http_status,
        "attempts": page.attempts,
        "error": page.error,
    }


def schedule_table(schedules: Iterable[Schedule]) -> str:
    """Schedules as an aligned table, one a line."""
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
    """The same for programs."""
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
