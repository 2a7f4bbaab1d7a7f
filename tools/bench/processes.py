"""Knows what processes use: CPU time and memory, as Linux tells it of any process (proc(5)).

Elsewhere nothing can be read of processes that are not our own: see `ARE_TOLD`.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PROC = Path("/proc")
ARE_TOLD = (PROC / "self" / "stat").exists()
_OF_A_PROCESS = 2  # CPUCLOCK_SCHED, in the three lowest bits of a clock's number
_PARENT, _USER, _SYSTEM, _CHILDRENS_USER, _CHILDRENS_SYSTEM = 1, 11, 12, 13, 14  # fields behind the name in stat


def cpu_seconds(roots: Iterable[int]) -> float:
    """CPU seconds these processes and all below them have used so far; 0 for one that is gone.

    Of processes below them that have ended it counts those their parent has waited for. RQ's own worker, which forks
    for each job, does; so does PostgreSQL's first process, of which each connection is a child.
    """
    stats = dict(_stats())
    tick = os.sysconf("SC_CLK_TCK")
    used = 0.0
    for pid in _family(roots, stats):
        fields = stats[pid]
        used += _own_seconds(pid, (int(fields[_USER]) + int(fields[_SYSTEM])) / tick)
        used += (int(fields[_CHILDRENS_USER]) + int(fields[_CHILDRENS_SYSTEM])) / tick
    return used


def own_cpu_seconds() -> float:
    """Those of this process and of its children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def ended_cpu_seconds() -> float:
    """Those of all children of this process that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident(pid: int) -> int:
    """Bytes a process has in memory; 0 where that cannot be told."""
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def proportional(pid: int) -> int:
    """Bytes a process has in memory, with its part of memory shared with others; 0 if unknown."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def family(roots: Iterable[int]) -> set[int]:
    """These processes, as far as they are there, and all below them."""
    return _family(roots, dict(_stats()))


def adopted(name: str) -> list[int]:
    """Children of this process whose name has this in it: of other parents, which have ended before them."""
    own = str(os.getpid())
    return [pid for pid, fields in _stats() if fields[_PARENT] == own and name in _name(pid)]


def _name(pid: int) -> str:
    try:
        return (PROC / str(pid) / "stat").read_text().partition("(")[2].rpartition(")")[0]
    except OSError:
        return ""


def _stats() -> Iterator[tuple[int, Sequence[str]]]:
    for file in PROC.glob("[0-9]*/stat"):
        try:
            yield int(file.parent.name), file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile


def _family(roots: Iterable[int], stats: dict[int, Sequence[str]]) -> set[int]:
    children = dict[int, list[int]]()
    for pid, fields in stats.items():
        children.setdefault(int(fields[_PARENT]), []).append(pid)
    found, waiting = set[int](), [pid for pid in roots if pid in stats]
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        waiting += children.get(pid, [])
    return found


def _own_seconds(pid: int, in_ticks: float) -> float:
    """By the process's own clock, which is far finer than the ticks of stat: clock_getcpuclockid(3)."""
    try:
        return time.clock_gettime(~pid << 3 | _OF_A_PROCESS)
    except OSError:
        return in_ticks
