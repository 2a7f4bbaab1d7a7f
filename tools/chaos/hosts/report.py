"""The table over all runs over several hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from tools.chaos.hosts.evidence import HostsEvidence, judged, missing, surplus
from tools.chaos.hosts.scenarios import Scenario
from tools.chaos.hosts.workers import every, timeline
from tools.chaos.scene import Struck
from tools.chaos.session import Report
from tools.chaos.verdict import EARLY, LOST, TWICE, Verdict

TIMELINE_SECONDS = 5.0  # between two characters of a timeline

HEAD = ("scenario", "seed", "pages", "requests", "lost", "twice", "early", "stuck", "crashed", "notices", "at once")
OF_HOSTS = ("gaps", "workers", "missing", "surplus", "took", "promises")


@dataclass(frozen=True)
class HostsResult:
    scenario: Scenario
    seed: int
    evidence: HostsEvidence

    @cached_property
    def verdict(self) -> Verdict:
        return judged(self.evidence, self.scenario.promises)

    @property
    def faults(self) -> Sequence[str]:
        return self.verdict.faults

    @property
    def struck(self) -> Sequence[Struck]:
        return self.evidence.faults

    @property
    def summary(self) -> str:
        return f"{self.evidence.seconds:.0f} s: {'BROKEN' if self.faults else 'kept'}"

    @property
    def name(self) -> str:
        return f"{self.scenario.name} (seed {self.seed})"

    def cells(self) -> tuple[str, ...]:
        found, crawls = self.evidence, self.evidence.crawls
        return (
            self.scenario.name,
            str(self.seed),
            str(sum(len(crawl.pages) for crawl in crawls)),
            str(sum(crawl.receipt.get("requests", 0) for crawl in crawls)),
            *(str(self.verdict.number(kind)) for kind in (LOST, TWICE, EARLY)),
            f"{max(crawl.stuck for crawl in crawls):.1f} s",
            str(sum(crawl.crashed for crawl in crawls)),
            "+".join(str(len(crawl.received)) for crawl in crawls),
            str(found.most_at_once),
            f"{found.shortest_gap:.3f} s" if self.scenario.promises.delay is not None else "-",
            *self._of_workers(),
            f"{found.seconds:.0f} s",
            "BROKEN" if self.faults else "kept",
        )

    def _of_workers(self) -> tuple[str, str, str]:
        numbers = [sample.running for sample in self.evidence.samples]
        most = f"{numbers[0]}-{max(numbers)}-{numbers[-1]}" if numbers else "-"
        if not (numbers and self.scenario.is_autoscaled):
            return (most, "-", "-")
        return (most, f"{missing(self.evidence):.1f} s", f"{surplus(self.evidence):.1f} s")

    def timelines(self) -> list[str]:
        """Workers that ran and, if they were autoscaled, that were wanted, every few seconds and at the end."""
        samples = [*every(self.evidence.samples, TIMELINE_SECONDS), *self.evidence.samples[-1:]]
        lines = [self.name, f"  ran    {timeline([each.running for each in samples])}"]
        if self.scenario.is_autoscaled:
            lines.append(f"  wanted {timeline([each.wanted for each in samples])}")
        return lines

    def plain(self) -> dict[str, Any]:
        found, names = self.evidence, ("measured", "shortest_gap", "most_at_once", "most_when_known", "seconds")
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "broken": self.faults,
            "struck": [asdict(fault) for fault in self.struck],
            **{name: getattr(found, name) for name in names},
            "workers": [asdict(sample) for sample in found.samples],
            "crawls": [
                {
                    "pages": len(crawl.pages),
                    "requests": crawl.receipt.get("requests"),
                    "deaths": crawl.died,
                    "delivered": len(crawl.received),
                    **{name: getattr(crawl, name) for name in ("stuck", "crashed", "off")},
                }
                for crawl in found.crawls
            ],
        }


def report_of(results: Sequence[HostsResult]) -> Report:
    broken = [result.name for result in results if result.faults]
    title = f"Workers, every {TIMELINE_SECONDS:g} s and at the end:"
    summary = f"{len(results)} run{'' if len(results) == 1 else 's'}: "
    summary += f"broken in {', '.join(broken)}" if broken else "every promise was kept"
    return Report(
        is_good=not broken,
        head=(*HEAD, *OF_HOSTS),
        rows=[result.cells() for result in results],
        plain={"kept": not broken, "runs": [result.plain() for result in results]},
        notes=["", title, *(line for result in results for line in result.timelines()), "", summary],
    )
