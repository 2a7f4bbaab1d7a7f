"""Processes of this machine: which there are, what they are, and signals to them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path


def send(pids: Iterable[int], number: int) -> None:
    """A signal to each; those that have ended by themselves are left out."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def all_pids() -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid="], check=True, capture_output=True, text=True).stdout
    return [int(pid) for pid in listed.split()]


def children_of(pid: int) -> list[int]:
    """Work-horses lead a process group of their own, so a signal to the group does not reach them."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
        pairs = [line.split() for line in listed.splitlines()]
        return [int(child) for child, parent in pairs if int(parent) == pid]


def descendants(pid: int) -> list[int]:
    """All processes below this one, as far as the system tells (Linux)."""
    below, parents = {pid}, {child: parent for child, (parent, state) in _stats().items() if state != "Z"}
    while found := {child for child, parent in parents.items() if parent in below and child not in below}:
        below |= found
    return sorted(below - {pid})


def command_of(pid: int | str) -> list[str]:
    """The words of its command line; none when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def program_of(pid: int) -> list[str]:
    """The same of a browser: Chromium's children have rewritten theirs, as one word."""
    return " ".join(command_of(pid)).split()


def namespace_of(pid: int | str) -> Path | None:
    """Its namespace of processes; None when it has ended."""
    try:
        return Path(f"/proc/{pid}/ns/pid").readlink()
    except OSError:
        return None


def state_of(pid: int) -> str:
    """As proc(5) has it: "T" for one that is stopped, "Z" for one that has ended; "" when it is gone."""
    return _stat(Path(f"/proc/{pid}"))[1]


def _stats() -> dict[int, tuple[int, str]]:
    """Process -> its parent and its state."""
    found = {int(folder.name): _stat(folder) for folder in Path("/proc").glob("[0-9]*")}
    return {pid: stat for pid, stat in found.items() if stat[1]}


def _stat(folder: Path) -> tuple[int, str]:
    try:
        state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, ""
    return int(parent), state


# The processes below a worker: Playwright's Node.js, Chromium with its own, Scrapy (Linux).


def is_chromium(pid: int) -> bool:
    """Whether it is a main process."""
    words = program_of(pid)
    return bool(words) and "chrom" in words[0].rpartition("/")[2] and not _kind(words) and "--headless" in words


def is_renderer(pid: int) -> bool:
    """Whether it may have a page: not one of Chromium's own."""
    words = program_of(pid)
    return _kind(words) == "renderer" and "--top-chrome-webui" not in words


def is_playwright(pid: int) -> bool:
    return "run-driver" in program_of(pid)


def is_scrapy(pid: int) -> bool:
    return _is_of_scrapy(program_of(pid))


def orphans() -> list[str]:
    """The processes of browsers and of Scrapy whose worker is dead, if this process adopts such; see
    `tools.subreaper.adopts_orphans`. Chromium's crash handlers are left out: they leave Chromium at their
    start, and end with it."""
    return [f"{pid} {' '.join(words)[:100]}" for pid, words in _adopted().items() if "crashpad" not in words[0]]


def end_orphans(seconds: float) -> list[str]:
    """Wait until none of them is left, for so many seconds at most; returns those that had to be killed."""
    deadline = time.monotonic() + seconds
    while (left := _adopted()) and time.monotonic() < deadline:
        time.sleep(0.05)
    send([one for pid in left for one in (*descendants(pid), pid)], signal.SIGKILL)
    return [f"{pid} {' '.join(words)[:100]}" for pid, words in left.items()]


def _adopted() -> dict[int, list[str]]:
    own = os.getpid()
    found = {pid: program_of(pid) for pid, (parent, state) in _stats().items() if parent == own and state != "Z"}
    return {pid: words for pid, words in found.items() if words and _is_of_worker(words)}


def _is_of_worker(words: list[str]) -> bool:
    return "chrom" in words[0].rpartition("/")[2] or "run-driver" in words or _is_of_scrapy(words)


def _is_of_scrapy(words: list[str]) -> bool:
    return any("capabilities.scrapy" in word for word in words)


def _kind(words: list[str]) -> str:
    return next((word.removeprefix("--type=") for word in words if word.startswith("--type=")), "")
