"""The table over all runs, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tools.hosts.evidence import Run
from tools.hosts.verdict import Verdict, missing, surplus
from tools.hosts.workers import every, timeline

TIMELINE_SECONDS = 5.0  # between two characters of a timeline

HEAD = (
    "scenario",
    "seed",
    "pages",
    "requests",
    "lost",
    "twice",
    "early",
    "stuck",
    "crashed",
    "notices",
    "at once",
    "gaps",
)
OF_WORKERS = ("workers", "missing", "surplus")


@dataclass(frozen=True)
class Ran:
    scenario: str
    seed: int
    run: Run
    verdict: Verdict
    has_delay: bool = False
    is_autoscaled: bool = False

    @property
    def is_kept(self) -> bool:
        return not self.verdict.faults

    def cells(self) -> tuple[str, ...]:
        run, crawls = self.run, self.run.crawls
        requests = sum(crawl.evidence.receipt.get("requests", 0) for crawl in crawls)
        return (
            self.scenario,
            str(self.seed),
            str(sum(len(crawl.evidence.pages) for crawl in crawls)),
            str(requests),
            str(self.verdict.lost),
            str(self.verdict.twice),
            str(self.verdict.early),
            f"{max(crawl.stuck for crawl in crawls):.1f} s",
            str(sum(crawl.crashed for crawl in crawls)),
            "+".join(str(crawl.delivered) for crawl in crawls),
            str(run.most_at_once),
            f"{run.shortest_gap:.3f} s" if self.has_delay else "-",
            *self._of_workers(),
            f"{run.seconds:.0f} s",
            "kept" if self.is_kept else "BROKEN",
        )

    def _of_workers(self) -> tuple[str, ...]:
        numbers = [sample.running for sample in self.run.samples]
        if not numbers:
            return ("-",) * len(OF_WORKERS)
        most = f"{numbers[0]}-{max(numbers)}-{numbers[-1]}"
        if not self.is_autoscaled:
            return (most, "-", "-")
        return (most, f"{missing(self.run):.1f} s", f"{surplus(self.run):.1f} s")

    def timelines(self) -> list[str]:
        """Workers that ran and, if they were autoscaled, that were wanted, every few seconds and at the end."""
        samples = [*every(self.run.samples, TIMELINE_SECONDS), *self.run.samples[-1:]]
        lines = [f"{self.scenario} (seed {self.seed})", f"  ran    {timeline([each.running for each in samples])}"]
        if self.is_autoscaled:
            lines.append(f"  wanted {timeline([each.wanted for each in samples])}")
        return lines


@dataclass(frozen=True)
class Report:
    ran: Sequence[Ran]

    @property
    def is_kept(self) -> bool:
        return all(ran.is_kept for ran in self.ran)

    def _rows(self) -> list[tuple[str, ...]]:
        return [(*HEAD, *OF_WORKERS, "took", "promises"), *(ran.cells() for ran in self.ran)]

    def text(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        over_time = [line for ran in self.ran for line in ran.timelines()]
        title = f"Workers, every {TIMELINE_SECONDS:g} s and at the end:"
        return "\n".join([*(line.rstrip() for line in lines), "", title, *over_time, "", self.summary()])

    def markdown(self) -> str:
        head, *rows = [f"| {' | '.join(row)} |\n" for row in self._rows()]
        return head + "|---" * len(self._rows()[0]) + "|\n" + "".join(rows)

    def summary(self) -> str:
        broken = [f"{ran.scenario} (seed {ran.seed})" for ran in self.ran if not ran.is_kept]
        said = f"broken in {', '.join(broken)}" if broken else "every promise was kept"
        return f"{len(self.ran)} run{'' if len(self.ran) == 1 else 's'}: {said}"

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {"kept": self.is_kept, "runs": [_plain(ran) for ran in self.ran]}


def _plain(ran: Ran) -> dict[str, Any]:
    return {
        "scenario": ran.scenario,
        "seed": ran.seed,
        "broken": list(ran.verdict.faults),
        "struck": [{**asdict(fault), "crawl": str(fault.crawl or "")} for fault in ran.run.faults],
        "measured": ran.run.measured,
        "shortest_gap": ran.run.shortest_gap,
        "most_at_once": ran.run.most_at_once,
        "most_when_known": ran.run.most_when_known,
        "seconds": ran.run.seconds,
        "workers": [asdict(sample) for sample in ran.run.samples],
        "crawls": [
            {
                "pages": len(crawl.evidence.pages),
                "requests": crawl.evidence.receipt.get("requests"),
                "stuck": crawl.stuck,
                "crashed": crawl.crashed,
                "deaths": crawl.deaths,
                "off": crawl.off,
                "delivered": crawl.delivered,
            }
            for crawl in ran.run.crawls
        ],
    }
