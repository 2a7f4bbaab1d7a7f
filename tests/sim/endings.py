"""Which hosts of a simulated web a crawl was done with last, and what it lost time with there."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tests.sim.bound import Bound
from tests.sim.log import Log
from tests.sim.world import World


@dataclass(frozen=True)
class Ending:
    """One host's part in a crawl. All in seconds; the times count from the crawl's start."""

    host: str
    requests: int
    first: float
    last: float
    bound: float
    gaps: Sequence[float]  # between its requests, the longest first

    def __str__(self) -> str:
        longest = " ".join(f"{gap:.2f}" for gap in self.gaps[:5])
        span = f"from {self.first:.2f} to {self.last:.2f} s, at best {self.bound:.2f} s"
        return f"{self.host}: {self.requests} requests {span}; gaps of {median(self.gaps):.3f} s, at most {longest}"


def endings(log: Log, world: World, bound: Bound, hosts: set[int], began: float, number: int = 5) -> list[Ending]:
    """Of these hosts those that were done with last."""
    by_host = {host: log.answered({host}) for host in hosts}
    last = sorted((host for host in hosts if by_host[host]), key=lambda host: -by_host[host][-1].until)[:number]
    return [
        Ending(
            host=world.hosts[host].address,
            requests=len(by_host[host]),
            first=by_host[host][0].at - began,
            last=by_host[host][-1].until - began,
            bound=bound.by_host[host],
            gaps=sorted((b.at - a.at for a, b in itertools.pairwise(by_host[host])), reverse=True) or [0.0],
        )
        for host in last
    ]
