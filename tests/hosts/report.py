"""The table over all runs, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.hosts.evidence import Run
from tests.hosts.verdict import Verdict

HEAD = ("scenario", "seed", "pages", "requests", "lost", "twice", "early", "stuck", "crashed", "notices", "gaps")


@dataclass(frozen=True)
class Ran:
    scenario: str
    seed: int
    run: Run
    verdict: Verdict
    has_delay: bool = False

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
            f"{run.shortest_gap:.3f} s" if self.has_delay else "-",
            f"{run.seconds:.0f} s",
            "kept" if self.is_kept else "BROKEN",
        )


@dataclass(frozen=True)
class Report:
    ran: Sequence[Ran]

    @property
    def is_kept(self) -> bool:
        return all(ran.is_kept for ran in self.ran)

    def _rows(self) -> list[tuple[str, ...]]:
        return [(*HEAD, "took", "promises"), *(ran.cells() for ran in self.ran)]

    def text(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*(line.rstrip() for line in lines), self.summary()])

    def markdown(self) -> str:
        head, *rows = [f"| {' | '.join(row)} |\n" for row in self._rows()]
        return head + "|---" * (len(HEAD) + 2) + "|\n" + "".join(rows)

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
        "seconds": ran.run.seconds,
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
