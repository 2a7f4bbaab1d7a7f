"""Which disturbances happen in a run, and when: a seed decides it all, so that a run can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tools.chaos.disturbances import Kind, kinds_of
from tools.chaos.processes import Role

CREWS: tuple[tuple[float, tuple[Role, ...]], ...] = (
    (4, (Role.STOCK, Role.STOCK, Role.OWN)),
    (3, (Role.STOCK, Role.OWN)),
    (1, (Role.OWN, Role.OWN)),
    (1, (Role.STOCK, Role.STOCK)),
    (1, (Role.OWN,)),
    (1, (Role.STOCK,)),
)
"""How often a crew is drawn, and its workers. A lone worker has nobody to wake it."""

BROWSER_CREWS: tuple[tuple[float, tuple[Role, ...]], ...] = (
    (3, (Role.OWN, Role.BROWSER, Role.BROWSER)),
    (1, (Role.STOCK, Role.OWN, Role.BROWSER, Role.BROWSER)),
)
"""The same where pages need a browser."""

LEAST, MOST = 4, 6  # disturbances in a run
USED = 8  # what users do in a run, besides, if it is used as a queue
SESSIONS_ENDED = 3  # times, besides, by a site that wants a log-in


@dataclass(frozen=True)
class Planned:
    """One disturbance. `at`: the share of the pages that must have been answered first; 1 also means "or the crawl is
    over". `settled`: wait until the disturbances before it have ended and what they cost was seen."""

    kind: str
    at: float
    settled: bool
    dice: int  # seeds what the disturbance itself decides

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:.0%}{' when all is settled' if self.settled else ''}"


@dataclass(frozen=True)
class Schedule:
    seed: int
    crew: tuple[Role, ...]
    planned: tuple[Planned, ...]

    def __str__(self) -> str:
        return f"seed {self.seed}; workers: {', '.join(self.crew)}; {'; '.join(map(str, self.planned))}"


def draw(
    seed: int,
    left_out: Sequence[str] = (),
    *,
    rendered: bool = False,
    queue: bool = False,
    login: bool = False,
    more: tuple[Role, ...] = (),
) -> Schedule:
    """The schedule of a seed. `left_out`: kinds that cannot be had on this machine. `rendered`: for browser workers.
    `queue`: with a user who uses the crawl as one. `login`: of a site that ends sessions. `more`: workers beside those
    that are drawn."""
    dice, crews = Random(seed), BROWSER_CREWS if rendered else CREWS
    crew = dice.choices([crew for _, crew in crews], [weight for weight, _ in crews])[0] + more
    kinds = [
        kind
        for kind in kinds_of(rendered=rendered, scrapy=Role.SCRAPY in crew)
        if kind.name not in left_out and kind.needs <= set(crew)
    ]
    number = dice.randint(LEAST, MOST)
    moments = sorted(dice.uniform(0.02, 0.95) for _ in range(number))
    if dice.random() < 0.3:
        moments[-1] = 1.0  # around the end: the last reports, the notice, the cleaning up
    planned = tuple(
        Planned(kind.name, round(at, 3), dice.random() < 0.6, dice.randrange(1 << 30))
        for kind, at in zip(_without_repetition(kinds, number, dice), moments, strict=True)
    )
    if queue:
        planned = _with(planned, [kind for kind in kinds_of(rendered=False, queue=True) if kind.queue], USED, dice)
    if login:
        kinds = [kind for kind in kinds_of(rendered=False, login=True) if kind.login]
        planned = _with(planned, kinds, SESSIONS_ENDED, dice)
    return Schedule(seed, crew, planned)


def _with(planned: tuple[Planned, ...], kinds: Sequence[Kind], number: int, dice: Random) -> tuple[Planned, ...]:
    """Users and sites do the same again and again, and do not wait for anything to settle."""
    drawn = dice.choices(kinds, [kind.weight for kind in kinds], k=number)
    others = (Planned(kind.name, round(dice.uniform(0.02, 1), 3), False, dice.randrange(1 << 30)) for kind in drawn)
    return tuple(sorted((*planned, *others), key=lambda each: each.at))


def _without_repetition(kinds: Sequence[Kind], number: int, dice: Random) -> list[Kind]:
    """Weighted, each kind once."""
    left, drawn = list(kinds), []
    for _ in range(number):
        kind = dice.choices(left, [kind.weight for kind in left])[0]
        left.remove(kind)
        drawn.append(kind)
    return drawn
