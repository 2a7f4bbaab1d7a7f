"""Which faults happen in a mixture, when, and for how long: a seed decides it all, so that a run can be repeated."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

SECONDS = {
    "cut-worker": (5.0, 40.0),
    "cut-redis": (5.0, 40.0),
    "cut-database": (5.0, 40.0),
    "vanish": (30.0, 45.0),  # until another machine takes its place
    "redis-lost": (0.5, 5.0),
    "postgres-restart": (0.0, 20.0),
    "power": (5.0, 25.0),
    "stall": (10.0, 15.0),
}
"""How long each kind lasts: at least, at most."""

SECONDS_OF_AUTOSCALED = {"kill-autoscaler": (0.0, 10.0), "kill-worker": (0.0, 5.0)}
"""The same of the kinds that only autoscaled workers know."""

LEAST, MOST = 3, 5  # faults in a run
SKEWED_SHARE = 0.3  # of the runs have two worker hosts whose clocks are off
SKEW_SECONDS = 600.0


@dataclass(frozen=True)
class Planned:
    """One fault. `at`: the share of every site that must have been answered first."""

    kind: str
    at: float
    seconds: float
    dice: int  # seeds what the fault itself decides

    def __str__(self) -> str:
        return f"{self.kind} for {self.seconds:.0f} s at {self.at:.0%}"


@dataclass(frozen=True)
class Schedule:
    seed: int
    skews: tuple[float, ...]
    planned: tuple[Planned, ...]

    def __str__(self) -> str:
        skewed = "clocks off; " if self.skews else ""
        return f"seed {self.seed}: {skewed}{', '.join(map(str, self.planned))}"


def draw(seed: int, *, autoscaled: bool = False) -> Schedule:
    """The schedule of a seed. No kind comes twice."""
    lasting = {**SECONDS, **SECONDS_OF_AUTOSCALED} if autoscaled else SECONDS
    dice = Random(seed)
    number = dice.randint(LEAST, MOST)
    kinds = dice.sample(sorted(lasting), number)
    moments = sorted(dice.uniform(0.05, 0.8) for _ in kinds)
    planned = tuple(
        Planned(kind, round(at, 3), round(dice.uniform(*lasting[kind]), 1), dice.randrange(1 << 30))
        for kind, at in zip(kinds, moments, strict=True)
    )
    skews = (SKEW_SECONDS, -SKEW_SECONDS) if dice.random() < SKEWED_SHARE else ()
    return Schedule(seed, skews, planned)
