"""The processes below a worker: Playwright's Node.js, Chromium with its own, Scrapy (Linux)."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from tools.chaos.processes import send


def descendants(pid: int) -> list[int]:
    """All processes below this one, as far as the system tells (Linux)."""
    below, parents = {pid}, {child: parent for child, (parent, state) in _stats().items() if state != "Z"}
    while found := {child for child, parent in parents.items() if parent in below and child not in below}:
        below |= found
    return sorted(below - {pid})


def orphans() -> list[str]:
    """The processes of browsers and of Scrapy whose worker is dead, if this process adopts such; see
    `crawler.launch.process_group.adopts_orphans`. Not those that wait for a crash: they leave their Chromium at their
    start, and end with it."""
    return [f"{pid} {' '.join(words)[:100]}" for pid, words in _adopted().items() if not _awaits_crash(words)]


def end_browsers(seconds: float) -> list[str]:
    """Wait until none of them is left, for so many seconds at most; returns those that had to be killed."""
    deadline = time.monotonic() + seconds
    while (left := _adopted()) and time.monotonic() < deadline:
        time.sleep(0.05)
    send([one for pid in left for one in (*descendants(pid), pid)], signal.SIGKILL)
    return [f"{pid} {' '.join(words)[:100]}" for pid, words in left.items()]


def _adopted() -> dict[int, list[str]]:
    own = os.getpid()
    found = {pid: program_of(pid) for pid, (parent, state) in _stats().items() if parent == own and state != "Z"}
    return {pid: words for pid, words in found.items() if _is_of_worker(words)}


def program_of(pid: int) -> list[str]:
    """The words of its command line; empty if it has ended. Chromium's children have written theirs anew, in one."""
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text(errors="replace").replace("\0", " ").split()
    except OSError:
        return []


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


def _kind(words: list[str]) -> str:
    return next((word.removeprefix("--type=") for word in words if word.startswith("--type=")), "")


def is_scrapy(pid: int) -> bool:
    return _is_of_scrapy(program_of(pid))


def _is_of_worker(words: list[str]) -> bool:
    is_of_browser = bool(words) and ("chrom" in words[0].rpartition("/")[2] or "run-driver" in words)
    return is_of_browser or _is_of_scrapy(words)


def _is_of_scrapy(words: list[str]) -> bool:
    return any("capabilities.scrapy" in word for word in words)


def _awaits_crash(words: list[str]) -> bool:
    return "crashpad" in words[0]


def _stats() -> dict[int, tuple[int, str]]:
    """Process -> its parent and its state, "Z" for one that has ended."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            found[int(folder.name)] = int(parent), state
    return found
