"""The replies to a user who adds pages to a crawl, asks for some again, or changes its options: the same on
page, terminal and API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.core.access.credentials import KINDS
from crawler.core.options.catalogue import OPTIONS
from crawler.core.pages.placement import Added, AskedAgain
from crawler.core.text.quantities import counted
from crawler.core.text.sanitize import one_line
from crawler.reports.text import Reply

RUNS_AGAIN = " The crawl had ended and runs again."


def to_add(done: Added) -> Reply:
    """What happened to the URLs of a call, each counted once."""
    parts = [
        (done.added, "added"),
        (done.moved, "rescheduled"),
        (done.again, "queued to be requested again"),
        (done.waiting, "already open"),
        (done.closed, "already closed, and not requested again"),
        (done.refused, "refused"),
    ]
    told = "; ".join(f"{counted(number, 'page')} {what}" for number, what in parts if number) or "no URL was given"
    line = f"{told[0].upper()}{told[1:]}.{RUNS_AGAIN if done.has_reopened else ''}"
    return Reply(line, is_so=not done.refused)


def to_ask_again(done: AskedAgain) -> Reply:
    """What happened to the pages that were asked for again."""
    if not done.again and not done.left:
        return Reply("No such page.", is_so=False)
    line = f"{counted(done.again, 'page')} will be requested again."
    if done.left:
        line += f" Left unchanged, because they are open, in a trap or only recorded: {counted(done.left, 'page')}."
    return Reply(line + (RUNS_AGAIN if done.has_reopened else ""), is_so=bool(done.again))


def to_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Reply:
    """The options that have another value now."""
    if not after:
        return Reply("Nothing to change.", is_so=True)
    told = [_changed(name, before[name], value) for name, value in after.items()]
    return Reply(f"Changed: {'; '.join(told)}.", is_so=True)


def _changed(name: str, before: Any, after: Any) -> str:
    if name in KINDS:  # numbers, which say nothing about the values
        return f"{KINDS[name].label} ({after})"
    return f"{_named(name)} from {_valued(before)} to {_valued(after)}"


def _named(name: str) -> str:
    return OPTIONS[name].label if name in OPTIONS else "Events of notices"


def _valued(value: Any) -> str:
    match value:
        case None | [] | () | "":
            return "none"
        case bool():
            return "on" if value else "off"
        case list() | tuple():
            return ", ".join(map(str, value))
        case float():
            return f"{value:g}"
    return str(value)


def reasons_lines(done: Added) -> list[str]:
    """A line for each of the first refused URLs, and one for the rest."""
    lines = [one_line(f"{refused.url}: {refused.why}") for refused in done.reasons]
    more = done.refused - len(lines)
    return [*lines, *([f"and {counted(more, 'more URL')}"] if more else [])]
