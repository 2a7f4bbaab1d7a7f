"""How many workers run and how many are wanted, watched from outside for as long as a run lasts."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tools.chaos.hosts.host import Host
from tools.chaos.hosts.services import Redis
from tools.chaos.processes import all_pids, command_of, namespace_of

SAMPLE_SECONDS = 0.5
WORKER_CLASS = "crawler.worker.Worker"
STOCK_COMMAND = ("worker", "crawl", "fetch")


@dataclass(frozen=True)
class Sample:
    """One look. `reachable`: hosts that have power and are not cut off."""

    at: float  # epoch seconds
    wanted: int | None  # workers; None = nothing has asked lately, or Redis is down
    running: int  # workers on all hosts
    on_reachable: int  # workers on those
    reachable: int  # hosts


@contextmanager
def sampled(redis: Redis, hosts: Sequence[Host], samples: list[Sample]) -> Iterator[None]:
    """Add a sample every half a second, from a thread of its own: a fault may keep the harness busy."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(SAMPLE_SECONDS):
            found = running([host.pid for host in hosts if host.has_power])
            reachable = [host for host in hosts if host.has_power and not host.is_cut]
            on_reachable = sum(found[host.pid] for host in reachable)
            samples.append(Sample(time.time(), redis.wanted(), found.total(), on_reachable, len(reachable)))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def running(hosts: Collection[int]) -> Counter[int]:
    """How many workers run on each host, by the process 1 of the host."""
    of_namespace = {namespace_of(pid): pid for pid in hosts}
    of_namespace.pop(None, None)
    spaces = ((pid, namespace_of(pid)) for pid in all_pids())
    return Counter(of_namespace[space] for pid, space in spaces if space in of_namespace and is_worker(pid))


def is_worker(pid: int) -> bool:
    """Whether it is RQ's program with the project's worker class, or RQ's own worker; its shell is none."""
    words = command_of(pid)
    return WORKER_CLASS in words or (words[-3:] == [*STOCK_COMMAND] and "rq" in words[1])


def longest(
    samples: Sequence[Sample], excused: Sequence[tuple[float, float]], holds: Callable[[Sample], bool]
) -> float:
    """The longest time that something holds without a break, in seconds; what lies within an excuse is not counted.
    Moments at which nothing is known of the figure neither count nor break it."""
    most = so_far = 0.0
    for sample, after in itertools.pairwise(samples):
        if sample.wanted is None or any(began <= sample.at <= ended for began, ended in excused):
            continue
        so_far = so_far + after.at - sample.at if holds(sample) else 0.0
        most = max(most, so_far)
    return most


def too_few(sample: Sample, most: int) -> bool:
    """Whether more workers are wanted than run where they can do something. `most`: on one host."""
    return sample.on_reachable < min(sample.wanted or 0, most * sample.reachable)


def too_many(sample: Sample) -> bool:
    """Whether more run there than are wanted."""
    return sample.on_reachable > (sample.wanted or 0)


def timeline(numbers: Sequence[int | None]) -> str:
    """A character for each number; "-" when it is not known, "+" beyond nine."""
    return "".join("-" if number is None else "+" if number > 9 else str(number) for number in numbers)


def every(samples: Sequence[Sample], seconds: float) -> list[Sample]:
    """The first sample of each so many seconds."""
    found: list[Sample] = []
    for sample in samples:
        if not found or sample.at >= samples[0].at + len(found) * seconds:
            found.append(sample)
    return found
