"""The table over all runs on this machine."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from tools.chaos.one_machine.disturbances import MachineSchedule, kinds_of
from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.hooked import HANG, KILLS
from tools.chaos.one_machine.scene import Grounds
from tools.chaos.one_machine.verdict import RENDERED, judge, rendered_again
from tools.chaos.scene import Struck
from tools.chaos.session import Report
from tools.chaos.verdict import (
    BLAMED,
    COUNTED,
    EARLY,
    LEFT,
    LOST,
    REFETCHED,
    STUCK,
    TOLD,
    TWICE,
    Expected,
    Verdict,
    refetched,
)

TIMED = {"a killed worker's pages fetched again": 20.0, "after everything was dead": 20.0, "the end announced": 2.0}
"""Label -> target in seconds."""

BROKEN = {
    "pages lost": LOST,
    "pages closed twice": TWICE,
    "finished said early": EARLY,
    "crawls stuck": STUCK,
    "notices missing or repeated": TOLD,
    "keys, jobs or workers left over": LEFT,
    "numbers that do not add up": COUNTED,
    "pages blamed that were not in hand": BLAMED,
}


@dataclass(frozen=True)
class MachineResult:
    schedule: MachineSchedule
    evidence: MachineEvidence
    expected: Expected
    batch_pages: int

    @cached_property
    def verdict(self) -> Verdict:
        return judge(self.evidence, self.expected, self.batch_pages)

    @property
    def struck(self) -> Sequence[Struck]:
        return self.evidence.struck

    @property
    def times(self) -> dict[str, Sequence[float]]:
        """Of each label of `TIMED`, in seconds."""
        found = self.evidence
        announced = [] if found.announced is None else [found.announced]
        return dict(zip(TIMED, (found.refetches, found.revivals, announced), strict=True))

    @property
    def late(self) -> list[str]:
        """The times of this run that missed their target."""
        missed = [(label, one) for label, times in self.times.items() for one in times if one > TIMED[label]]
        return [f"late: {label} after {seconds:.1f} s" for label, seconds in missed]

    @property
    def faults(self) -> list[str]:
        return [*self.verdict.faults, *self.late]

    @property
    def refetched_share(self) -> float:
        return refetched(self.evidence, self.expected) / max(1, len(self.evidence.pages))

    @property
    def summary(self) -> str:
        found = self.evidence
        lost = f", {len(found.lost)} pages lost with their workers" if found.lost else ""
        times = "".join(f", {label} {max(seconds):.1f} s" for label, seconds in self.times.items() if seconds)
        exact = f"{'NOT EXACT' if self.verdict.faults else 'exact'}{', LATE' if self.late else ''}"
        number = f"{len(found.pages)} pages, {sum(found.hits.values())} requests"
        return f"{found.seconds:.1f} s, {number}{lost}, {self.refetched_share:.1%} fetched again{times}: {exact}"

    def plain(self) -> dict[str, Any]:
        names = ("disagreements", "seconds", "refetches", "revivals", "announced")
        return {
            "seed": self.schedule.seed,
            "schedule": asdict(self.schedule),
            "struck": [asdict(struck) for struck in self.struck],
            "faults": self.verdict.faults,
            **{name: getattr(self.evidence, name) for name in names},
        }


def report_of(
    site: str, undisturbed: MachineResult, results: Sequence[MachineResult], left_out: Sequence[str], grounds: Grounds
) -> Report:
    """`left_out`: kinds of disturbance that are not possible here. The undisturbed crawl counts for the end only."""
    times = {label: [one for each in (undisturbed, *results) for one in each.times[label]] for label in TIMED}
    is_exact = not any(result.verdict.faults for result in results)
    is_in_time = all(one <= TIMED[label] for label, found in times.items() for one in found)
    found = [result.evidence for result in results]
    kinds = Counter(struck.kind for each in found for struck in each.struck)
    shares = [result.refetched_share for result in results] or [0.0]
    lines: dict[str, object] = {
        "site": f"{site}, {len(undisturbed.evidence.pages)} pages",
        "runs": len(results),
        "seeds": "-".join(dict.fromkeys(str(results[place].schedule.seed) for place in (0, -1))) if results else "none",
        "disturbances": kinds.total(),
        **{f"- {kind.name}": kinds[kind.name] for kind in kinds_of(grounds)},
        **{f"- {name}": "left out on this machine" for name in left_out},
        "pages in all": sum(len(each.pages) for each in found),
        **{label: sum(result.verdict.number(kind) for result in results) for label, kind in BROKEN.items()},
        "runs that fetched too much again": sum(bool(each.verdict.number(REFETCHED, RENDERED)) for each in results),
        "pages fetched again": f"median {statistics.median(shares):.1%}, at most {max(shares):.1%}",
    }
    if grounds.acks_early:
        lines["pages of killed workers that were not tried again"] = sum(len(each.lost) for each in found)
    if grounds.renders:
        lines |= _rendered(results, found)
    if grounds.is_queue:
        lines |= _used_as_queue(found)
    if grounds.logs_in:
        lines["log-ins"] = sum(each.logins for each in found)
    lines |= {label: _slowest(times[label], target) for label, target in TIMED.items()}
    plain = {
        "site": site,
        "pages": len(undisturbed.evidence.pages),
        "exact": is_exact,
        "in_time": is_in_time,
        "left_out": list(left_out),
        "times": {label: {"measured": times[label], "target": target} for label, target in TIMED.items()},
        "runs": [result.plain() for result in results],
    }
    rows = [(label, str(value)) for label, value in lines.items()]
    return Report(is_exact and is_in_time, ("", ""), rows, plain)


def _rendered(results: Sequence[MachineResult], found: Sequence[MachineEvidence]) -> dict[str, object]:
    return {
        "pages rendered": sum(len(each.shown) for each in found),
        "pages rendered again": sum(rendered_again(each.evidence, each.expected) for each in results),
        "connections to a forbidden address": sum(each.knocks for each in found),
    }


def _used_as_queue(found: Sequence[MachineEvidence]) -> dict[str, object]:
    """What users and hooks did."""
    users = [each.user for each in found if each.user is not None]
    struck = Counter[str]()
    for each in found:
        struck.update(each.hook_strikes)
    return {
        "calls of users that were answered": ", ".join(
            f"{sum(user.number_of(verb) for user in users)} {verb}" for verb in ("add", "again", "change")
        ),
        "users killed in a call or after it": sum(user.deaths for user in users),
        "pages opened again": sum(each.opened.total() for each in found),
        "pages that a pattern left out": sum(each.left_out for each in found),
        "rounds": sum(each.rounds for each in found),
        "workers that a hook has killed": sum(each.hook_kills for each in found),
        "- in on_page / on_closed, before or after its note": " / ".join(str(struck[what]) for what in KILLS),
        "calls of on_page that hung": struck[HANG],
    }


def _slowest(times: Sequence[float], target: float) -> str:
    if not times:
        return "not measured"
    missed = "" if max(times) <= target else ", MISSED"
    return f"{max(times):.1f} s at most, measured {len(times)} times (target: {target:g} s{missed})"
