"""Writes measurements: as a table for people, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from tools.bench.chart import Bar, Group
from tools.bench.figures import OURS, Cpu, Judged, Run, Summary, incomplete, ratio
from tools.bench.tools import STORES, TITLES

_ROW = "  {:<30} {:>7} {:>8} {:>8} {:>16} {:>6} {:>8} {:>7}  {:<22} {:>10} {:>7}  {}"
_HEAD = (
    "",
    "pages",
    "pages/s",
    "seconds",
    "fastest..slowest",
    "spread",
    "ours is",
    "CPU ms",
    "crawler + Redis + DB",
    "links",
    "process",
    "stored of a page",
)


@dataclass(frozen=True)
class Report:
    titles: Mapping[str, str]  # of the sites, by their names
    summaries: Sequence[Summary]
    judged: Sequence[Judged]
    problems: Sequence[str]
    circumstances: Mapping[str, object]
    tools: Mapping[str, str] = field(default_factory=lambda: TITLES)  # their titles, by their names


def table(report: Report) -> str:
    lines = list[str]()
    for name, title in report.titles.items():
        rows = [summary for summary in report.summaries if summary.site == name]
        if rows:
            lines += [title[:1].upper() + title[1:], _ROW.format(*_HEAD), *(_row(report, row) for row in rows), ""]
    if report.judged:
        lines += ["Targets", *(f"  {target_line(report, result)}" for result in report.judged), ""]
    if report.problems:
        lines += ["Left out or wrong", *(f"  {problem}" for problem in report.problems), ""]
    lines.append(", ".join(f"{name} {value}" for name, value in report.circumstances.items()))
    return "\n".join(lines)


def target_line(report: Report, result: Judged) -> str:
    target = result.target
    kind = "stretch" if target.is_stretch else "target"
    verdict = "met" if result.is_met else "MISSED"
    site = report.titles.get(target.site, target.site)
    return f"{verdict:<7} {site}: {result.ratio:.1f} x {report.tools[target.peer]} ({kind}: {target.times:g} x)"


def parts_of(used: Cpu) -> str:
    """Of the CPU time: workers, Redis, the database's server."""
    return f"{used.crawler:.2f} + {used.redis:.2f} + {used.database:.2f}"


def as_json(report: Report, runs: Sequence[Run]) -> str:
    told = {
        **report.circumstances,
        "sites": dict(report.titles),
        "summaries": [asdict(summary) for summary in report.summaries],
        "targets": [
            {**asdict(result.target), "ratio": round(result.ratio, 3), "met": result.is_met} for result in report.judged
        ],
        "problems": list(report.problems),
        "runs": [asdict(run) for run in runs],
    }
    return json.dumps(told, indent=1) + "\n"


def bars(report: Report) -> list[Group]:
    """What the chart shows: pages a second, a group for each site. A tool that got few of the pages is left out."""
    few = [summary for summary, _ in incomplete(report.summaries)]
    return [
        Group(
            title[:1].upper() + title[1:],
            tuple(
                Bar(report.tools[summary.tool], summary.rate, is_ours=summary.tool.startswith(OURS))
                for summary in report.summaries
                if summary.site == name and summary not in few
            ),
        )
        for name, title in report.titles.items()
        if any(summary.site == name for summary in report.summaries)
    ]


def _row(report: Report, row: Summary) -> str:
    times = ratio(report.summaries, row.site, row.tool)
    return _ROW.format(
        report.tools[row.tool],
        f"{row.pages:,}",
        f"{row.rate:,.0f}",
        f"{row.seconds:.2f}",
        f"{row.fastest:.2f}..{row.slowest:.2f}",
        f"{row.spread:.0%}",
        f"{times:.2f} x" if times is not None and row.tool != OURS else "",
        "" if row.cpu_ms_total is None else f"{row.cpu_ms_total:.2f}",
        "" if row.cpu_ms is None or row.cpu_ms.crawler == row.cpu_ms_total else parts_of(row.cpu_ms),
        "none" if row.links is None else f"{row.links:,}",
        "" if row.process_seconds is None else f"{row.process_seconds:.2f}",
        STORES.get(row.tool, ""),
    ).rstrip()
