"""What the pictures of a crawl show: how fast it went, what came of its pages, how deep they lie and on which hosts."""

from __future__ import annotations

from typing import Any

from crawler.core.crawl import progress
from crawler.core.crawl.completion import State
from crawler.core.crawl.outcomes import Kind, Outcome
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.progress import Breakdown, cheap_breakdown, is_of_now

SOON, LATER = "300ms", "2s"  # until a page asks for the first count, and for one that somebody else is making

DEEPEST = 15  # depths with a bar of their own; those below share one

TONES = {"2": "good", "3": "calm", "4": "warn", "5": "bad"}

Bar = dict[str, Any]
"""One row of a histogram: `name`, `number` in words, `share` of the longest bar in per cent, `tone`."""


def quick_figures(crawl: Crawl, now: float) -> dict[str, Any]:
    """All of it without counting many rows: what is not known yet is asked for when the page is there."""
    return figures_of(crawl, cheap_breakdown(crawl, now))


def figures_of(crawl: Crawl, counted: Breakdown | None) -> dict[str, Any]:
    """pace, answers, depths, hosts: what the template shows of each; empty where there is nothing yet. `again_in`: the
    time after which to ask for a count that is not there yet; "" = it is."""
    return {
        "pace": _pace(crawl),
        "answers": answer_bars(crawl),
        "counted": counted,
        "again_in": _again_in(crawl, counted),
        "depths": depth_bars(counted.depths) if counted else [],
        "hosts": _host_rows(counted) if counted else [],
    }


def _again_in(crawl: Crawl, counted: Breakdown | None) -> str:
    if counted is None:
        return SOON
    return "" if is_of_now(counted, crawl) else LATER


def answer_bars(crawl: Crawl) -> list[Bar]:
    """HTTP statuses, then the reasons why pages have none."""
    tallies = crawl.tallies
    numbers = [(code, number, TONES.get(code[0], "calm")) for code, number in sorted(tallies.statuses.items())]
    for value, number in sorted(tallies.outcomes.items()):
        kind = Outcome(value).kind
        if kind is not Kind.FETCHED:
            numbers.append((text.outcome(value), number, "bad" if kind is Kind.FAILED else "calm"))
    return _bars([row for row in numbers if row[1]])


def depth_bars(depths: dict[int, int]) -> list[Bar]:
    """Every depth up to the deepest, empty ones too; the very deep ones as one."""
    last = min(max(depths, default=-1), DEEPEST)
    rows = [(str(depth), depths.get(depth, 0), "") for depth in range(last + 1)]
    below = sum(number for depth, number in depths.items() if depth > DEEPEST)
    return _bars([*rows, (f"{DEEPEST + 1} and more", below, "")] if below else rows)


def _bars(rows: list[tuple[str, int, str]]) -> list[Bar]:
    most = max((number for _, number, _ in rows), default=0)
    return [
        {"name": name, "number": text.count(number), "share": progress.share(number, most), "tone": tone}
        for name, number, tone in rows
    ]


def _pace(crawl: Crawl) -> dict[str, Any] | None:
    """The line, and what it shows in a sentence for those who do not see it."""
    values = progress.pace(crawl.samples)
    line = progress.line(values)
    if line is None:
        return None
    span = values[-1][0] - values[0][0]
    fastest, now = max(pace for _, pace in values), values[-1][1]
    last = "" if State(crawl.state).is_over else f", {text.rate(now)} at last"
    return {
        "line": line,
        "top": f"{line.top:,g}/s",
        "span": text.duration(span),
        "said": f"Pages closed a second, over {text.duration(span)}: {text.rate(fastest)} at most{last}.",
    }


def _host_rows(counted: Breakdown) -> list[dict[str, str]]:
    return [
        {
            "name": host.name,
            "pages": text.count(host.pages),
            "open": text.count(host.open),
            "errors": text.count(host.errors),
            "time": f"{host.elapsed_ms:,} ms",
            "size": text.size(host.bytes),
        }
        for host in counted.hosts
    ]
