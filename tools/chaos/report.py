"""The table over all runs, for people and for programs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tools.chaos.disturbances import kinds_of
from tools.chaos.evidence import Evidence
from tools.chaos.hooked import HANG, KILLS
from tools.chaos.processes import Role
from tools.chaos.schedule import Schedule
from tools.chaos.verdict import Verdict

REFETCH_TARGET, REVIVAL_TARGET, NOTICE_TARGET = 20.0, 20.0, 2.0  # seconds


@dataclass(frozen=True)
class Ran:
    schedule: Schedule
    evidence: Evidence
    verdict: Verdict

    @property
    def late(self) -> list[str]:
        """The times of this run that missed their target."""
        evidence = self.evidence
        timed = [
            ("a killed worker's pages fetched again", evidence.refetches, REFETCH_TARGET),
            ("after everything was dead", evidence.revivals, REVIVAL_TARGET),
            ("the end announced", [] if evidence.announced is None else [evidence.announced], NOTICE_TARGET),
        ]
        return [
            f"late: {label} after {seconds:.1f} s"
            for label, times, target in timed
            for seconds in times
            if seconds > target
        ]

    @property
    def refetched_share(self) -> float:
        return self.verdict.refetched / max(1, len(self.evidence.pages))


@dataclass(frozen=True)
class Report:
    site: str
    undisturbed: Evidence
    ran: Sequence[Ran]
    left_out: Sequence[str]  # kinds of disturbance that cannot be had here
    renders: bool = False
    acks_early: bool = False
    is_queue: bool = False
    logs_in: bool = False

    @property
    def exact(self) -> bool:
        return not any(ran.verdict.faults for ran in self.ran)

    @property
    def in_time(self) -> bool:
        return all(slowest is None or slowest <= target for _, slowest, _, target in self._times())

    def lines(self) -> list[tuple[str, str]]:
        """Label and value."""
        kinds = Counter(struck.kind for ran in self.ran for struck in ran.evidence.struck)
        with_scrapy = any(Role.SCRAPY in ran.schedule.crew for ran in self.ran)
        shares = [ran.refetched_share for ran in self.ran] or [0.0]
        return [
            ("site", f"{self.site}, {len(self.undisturbed.pages)} pages"),
            ("runs", str(len(self.ran))),
            ("seeds", _ranges([ran.schedule.seed for ran in self.ran])),
            ("disturbances", str(kinds.total())),
            *(
                (f"- {kind.name}", "left out on this machine" if kind.name in self.left_out else str(kinds[kind.name]))
                for kind in kinds_of(rendered=self.renders, queue=self.is_queue, scrapy=with_scrapy, login=self.logs_in)
            ),
            ("pages in all", str(sum(len(ran.evidence.pages) for ran in self.ran))),
            ("pages lost", self._number("lost")),
            ("pages closed twice", self._number("twice")),
            ("finished said early", self._number("early")),
            ("crawls stuck", self._number("stuck")),
            ("notices missing or repeated", self._number("told")),
            ("keys, jobs or workers left over", self._number("left")),
            ("numbers that do not add up", self._number("counted")),
            ("pages blamed that were not in hand", self._number("blamed")),
            ("runs that fetched too much again", str(sum(ran.verdict.wasteful for ran in self.ran))),
            ("pages fetched again", f"median {statistics.median(shares):.1%}, at most {max(shares):.1%}"),
            *self._lost_with_workers(),
            *self._rendered(),
            *self._used_as_queue(),
            *self._logged_in(),
            *((label, _seconds(slowest, number, target)) for label, slowest, number, target in self._times()),
        ]

    def _lost_with_workers(self) -> list[tuple[str, str]]:
        lost = str(sum(len(ran.evidence.lost) for ran in self.ran))
        return [("pages of killed workers that were not tried again", lost)] if self.acks_early else []

    def _used_as_queue(self) -> list[tuple[str, str]]:
        """What users and hooks did."""
        if not self.is_queue:
            return []
        users = [ran.evidence.user for ran in self.ran if ran.evidence.user is not None]
        verbs = ("add", "again", "change")
        return [
            (
                "calls of users that were answered",
                ", ".join(f"{sum(u.number_of(v) for u in users)} {v}" for v in verbs),
            ),
            ("users killed in a call or after it", str(sum(user.deaths for user in users))),
            ("pages opened again", str(sum(ran.evidence.opened.total() for ran in self.ran))),
            ("pages that a pattern left out", str(sum(ran.evidence.left_out for ran in self.ran))),
            ("rounds", str(sum(ran.evidence.rounds for ran in self.ran))),
            ("workers that a hook has killed", str(sum(ran.evidence.hook_kills for ran in self.ran))),
            ("- in on_page / on_closed, before or after its note", self._struck(*KILLS)),
            ("calls of on_page that hung", self._struck(HANG)),
        ]

    def _logged_in(self) -> list[tuple[str, str]]:
        return [("log-ins", str(sum(ran.evidence.logins for ran in self.ran)))] if self.logs_in else []

    def _struck(self, *names: str) -> str:
        return " / ".join(str(sum(ran.evidence.hook_strikes.get(name, 0) for ran in self.ran)) for name in names)

    def _rendered(self) -> list[tuple[str, str]]:
        if not self.renders:
            return []
        evidence = [ran.evidence for ran in self.ran]
        return [
            ("pages rendered", str(sum(len(found.shown) for found in evidence))),
            ("pages rendered again", str(sum(ran.verdict.rendered_again for ran in self.ran))),
            ("connections to a forbidden address", str(sum(found.knocks for found in evidence))),
        ]

    def _number(self, field: str) -> str:
        return str(sum(len(getattr(ran.verdict, field)) for ran in self.ran))

    def _times(self) -> list[tuple[str, float | None, int, float]]:
        """Label, slowest, number of times measured, target."""
        evidence = [ran.evidence for ran in self.ran]
        refetches = [seconds for found in evidence for seconds in found.refetches]
        revivals = [seconds for found in evidence for seconds in found.revivals]
        announced = [found.announced for found in (self.undisturbed, *evidence) if found.announced is not None]
        return [
            ("a killed worker's pages fetched again", max(refetches, default=None), len(refetches), REFETCH_TARGET),
            ("after everything was dead", max(revivals, default=None), len(revivals), REVIVAL_TARGET),
            ("the end announced", max(announced, default=None), len(announced), NOTICE_TARGET),
        ]

    def text(self) -> str:
        lines = self.lines()
        width = max(len(label) for label, _ in lines)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in lines)

    def markdown(self) -> str:
        rows = "".join(f"| {label} | {value} |\n" for label, value in self.lines())
        return f"| | |\n|---|---|\n{rows}"

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "site": self.site,
            "pages": len(self.undisturbed.pages),
            "exact": self.exact,
            "in_time": self.in_time,
            "left_out": list(self.left_out),
            "times": [
                {"what": label, "slowest": slowest, "measured": number, "target": target}
                for label, slowest, number, target in self._times()
            ],
            "runs": [_plain(ran) for ran in self.ran],
        }


def _plain(ran: Ran) -> dict[str, Any]:
    evidence = ran.evidence
    return {
        "seed": ran.schedule.seed,
        "schedule": asdict(ran.schedule),
        "struck": [asdict(struck) for struck in evidence.struck],
        "verdict": asdict(ran.verdict),
        "faults": ran.verdict.faults,
        "disagreements": list(evidence.disagreements),
        "seconds": evidence.seconds,
        "refetches": list(evidence.refetches),
        "revivals": list(evidence.revivals),
        "announced": evidence.announced,
    }


def _seconds(slowest: float | None, number: int, target: float) -> str:
    if slowest is None:
        return "not measured"
    missed = "" if slowest <= target else ", MISSED"
    return f"{slowest:.1f} s at most, measured {number} times (target: {target:g} s{missed})"


def _ranges(seeds: Sequence[int]) -> str:
    """Seeds are numbered on: "7-56"."""
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}-{seeds[-1]}" if seeds else "none"
