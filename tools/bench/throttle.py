"""`bin/bench throttle`: the throttle on simulated hosts, beside the best fixed setting and Scrapy's AutoThrottle.

Simulated time: it needs no network, and its figures do not depend on the machine.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from types import SimpleNamespace
from typing import Any

from tools.bench import chart
from tools.bench.chart import DotRow
from tools.bench.services import Unavailable
from tools.bench.simulated_hosts import SCENES, Crawl, Policy, Response, Scene, Throttled, best_fixed, crawl

SECONDS, CONNECTIONS, SETTLED_S = 120.0, 16, 10.0
_ROW = "{:<32} {:>10} {:>12} {:>10} {:>14} {:>10}"
_HEAD = ("host", "best fixed", "throttle", "failures", "AutoThrottle", "failures")


@dataclass(frozen=True)
class Result:
    """Pages a second from SETTLED_S on, or after the host is well again; failures of the whole crawl."""

    scene: str
    best: float
    ours: float
    ours_failures: int
    autothrottle: float
    autothrottle_failures: int

    @property
    def share(self) -> float:
        return self.ours / self.best

    @property
    def autothrottle_share(self) -> float:
        return self.autothrottle / self.best


class AutoThrottle:
    """Scrapy's extension with its default settings (a target of one request at a time, 5 s at first, 60 s at most), and
    its downloader's delay, which varies by half. Its own function decides."""

    START_S, MOST_S = 5.0, 60.0

    def __init__(self, connections: int) -> None:
        try:
            from scrapy.extensions.throttle import AutoThrottle as Extension  # an extra
        except ImportError as error:
            raise Unavailable(f"Scrapy is not installed ({error}): python -m pip install scrapy") from error
        self._extension: Any = Extension.__new__(Extension)
        self._extension.target_concurrency, self._extension.mindelay = 1.0, 0.0
        self._extension.maxdelay = self.MOST_S
        self._slot = SimpleNamespace(delay=self.START_S)
        self._connections, self._random = connections, Random(1)
        self._next = self.START_S

    def limit(self, now: float) -> tuple[int, float]:
        return self._connections, self._next

    def note(self, response: Response, in_use: int, now: float) -> None:
        if response.status is not None:
            self._extension._adjust_delay(self._slot, response.seconds, SimpleNamespace(status=response.status))
        self._next = self._slot.delay * self._random.uniform(0.5, 1.5)


def main(chosen: Namespace) -> int:
    names = chosen.hosts or list(SCENES)
    results = [measured(name, SCENES[name], chosen.connections, chosen.seconds) for name in names]
    print(_ROW.format(*_HEAD))
    for each in results:
        shares = f"{each.share:.0%}", f"{each.autothrottle_share:.0%}"
        best = f"{each.best:,.1f}/s"
        print(_ROW.format(each.scene, best, shares[0], each.ours_failures, shares[1], each.autothrottle_failures))
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(each) for each in results], indent=1))
    if chosen.chart:
        chosen.chart.parent.mkdir(parents=True, exist_ok=True)
        chosen.chart.write_text(drawn(results, chosen.connections))
    return 0


def measured(name: str, scene: Scene, connections: int, seconds: float) -> Result:
    begin = SETTLED_S + (scene.recovers_at or 0.0)

    def done(policy: Policy) -> Crawl:
        return crawl(scene.host(), policy, seconds)

    ours, other = done(Throttled(connections)), done(AutoThrottle(connections))
    return Result(
        scene=name,
        best=best_fixed(scene, connections, seconds).rate(begin, seconds),
        ours=ours.rate(begin, seconds),
        ours_failures=ours.failures,
        autothrottle=other.rate(begin, seconds),
        autothrottle_failures=other.failures,
    )


def drawn(results: Sequence[Result], connections: int) -> str:
    rows = [DotRow(each.scene, each.share, each.autothrottle_share) for each in results]
    title = f"Pages a second as a part of the best fixed setting of up to {connections} connections"
    return chart.dots(title, rows, ("this project", "Scrapy's AutoThrottle"))
