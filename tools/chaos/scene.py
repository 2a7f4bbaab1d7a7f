"""How the time of a run passes, and its schedule: a seed decides it, so that a run can be repeated."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID

Say = Callable[[str], None]


@dataclass
class Struck:
    """A disturbance or fault that took place."""

    kind: str
    what: str
    began: float  # epoch seconds
    share: float = 0.0  # of the pages that were answered by then
    ended: float = 0.0  # epoch seconds
    excuses: bool = False  # while it lasted no page could be closed by anybody
    crawl: UUID | None = None  # the one whose row was locked


@dataclass(kw_only=True)
class Scene:
    """What both scenes have in common."""

    folder: Path
    dice: Random
    say: Say
    struck: list[Struck] = field(default_factory=list)
    quiet_since: float = 0.0  # epoch seconds: the end of the last disturbance
    _later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    _looked_at: float = 0.0
    _over: bool = False

    STEP = 0.05  # seconds between two looks at everything
    LOOK_SECONDS = 0.5  # between two looks at whether the crawls are over

    @property
    def over(self) -> bool:
        """Whether no crawl goes on, as was found a moment ago."""
        if (not self._over or self.may_go_on()) and time.monotonic() - self._looked_at > self.LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._over = self.is_over()
        return self._over

    def is_over(self) -> bool:
        raise NotImplementedError

    def may_go_on(self) -> bool:
        """Whether a crawl that is over may be started again."""
        return False

    def breathe(self) -> None:
        """Let a moment pass in which everything goes on."""
        now = time.monotonic()
        for due, action in [entry for entry in self._later if entry[0] <= now]:
            self._later.remove((due, action))
            action()
            self.quiet_since = time.time()
        time.sleep(self.STEP)

    def wait_for(self, what: Callable[[], object], seconds: float, lasting: float = 0.0) -> bool:
        """`lasting`: seconds for which it has to be so at each look."""
        began = held_since = time.monotonic()
        while True:
            is_so, now = bool(what()), time.monotonic()
            held_since = held_since if is_so else now
            if is_so and now - held_since >= lasting:
                return True
            if now - began > seconds + lasting:
                return False
            self.breathe()

    def rest(self, seconds: float) -> None:
        self.wait_for(lambda: False, seconds)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Part of a disturbance, which lasts until then."""
        self._later.append((time.monotonic() + seconds, action))

    def run_out(self) -> None:
        """Wait until everything that was to happen later has happened."""
        self.wait_for(lambda: not self._later, 120)


@dataclass(frozen=True)
class Planned:
    """One disturbance or fault. `at`: the share of the pages that must have been answered first; 1 also means "or the
    crawl is over"."""

    kind: str
    at: float
    dice: int  # seeds what it decides itself
    settled: bool = False  # wait until those before it have ended and what they cost was seen
    seconds: float | None = None  # how long it lasts; None = it decides this itself

    def __str__(self) -> str:
        lasting = "" if self.seconds is None else f" for {self.seconds:.0f} s"
        return f"{self.kind}{lasting} at {self.at:.0%}{' when all is settled' if self.settled else ''}"


@dataclass(frozen=True)
class Schedule:
    seed: int
    planned: tuple[Planned, ...] = ()

    def setting(self) -> str:
        """What else the seed has decided."""
        return ""

    def __str__(self) -> str:
        return "; ".join(filter(None, [f"seed {self.seed}", self.setting(), *map(str, self.planned)]))
