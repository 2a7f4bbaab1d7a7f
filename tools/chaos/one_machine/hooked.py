"""The hook of a chaos run: in some calls it raises, in others it hangs or kills its own process; and it notes what it
was called with after the commit.

Calls are counted over all processes of the run, so that it strikes as often on a small site as on a large one, where
further calls follow.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from urllib.parse import urlsplit

from crawler.hooks import CrawlFinished, Found, PageClosed, PageSeen, Response

FOLDER = "CHAOS_HOOKS"  # the variable that names where it notes things
HARSH = f"{__name__}.Harsh"
HOOK_SECONDS = 0.5
CALLED = "called"  # in that folder
KILL_IN_PAGE, KILL_BEFORE, KILL_AFTER, HANG = "kill-page", "kill-before", "kill-after", "hang-page"
KILLS = (KILL_IN_PAGE, KILL_BEFORE, KILL_AFTER)
"""Its deeds, and the beginnings of the names of the files that record them."""

HANGING_CALLS, RAISING_CALLS = frozenset({8, 20, 60, 180}), frozenset({14, 32, 90, 270})
DEADLY_CALLS = frozenset({5, 26, 150})
DEADLY_NOTES, NOTES_BEFORE_DEATH = frozenset({10, 110}), frozenset({30, 210})


class Harsh:
    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        call = _number("page")
        if call in DEADLY_CALLS:
            _kill(KILL_IN_PAGE, call)
        if call in HANGING_CALLS:
            _struck(HANG, call)
            time.sleep(3 * HOOK_SECONDS)
        if call in RAISING_CALLS:
            raise ValueError("no price")
        return Found({"seen": True})

    def on_closed(self, page: PageClosed) -> None:
        call = _number("closed")
        if call in DEADLY_NOTES:
            _kill(KILL_BEFORE, call)
        _note(f"closed {urlsplit(page.url).path}")
        if call in NOTES_BEFORE_DEATH:
            _kill(KILL_AFTER, call)

    def on_finished(self, crawl: CrawlFinished) -> None:
        _note(f"finished {crawl.round}")


def strikes_in(folder: Path) -> dict[str, int]:
    """What hooks of a run did -> how often."""
    return {what: len(list(folder.glob(f"{what}-*"))) for what in (*KILLS, HANG)}


def _folder() -> Path:
    return Path(os.environ[FOLDER])


def _number(what: str) -> int:
    """Of this call, from 1 on."""
    file = os.open(_folder() / f"calls-{what}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(file, b".")
        return os.lseek(file, 0, os.SEEK_CUR)
    finally:
        os.close(file)


def _struck(what: str, call: int) -> None:
    (_folder() / f"{what}-{call}").touch()


def _kill(what: str, call: int) -> None:
    _struck(what, call)
    os.kill(os.getpid(), signal.SIGKILL)


def _note(line: str) -> None:
    with (_folder() / CALLED).open("ab", buffering=0) as file:
        file.write(f"{line}\n".encode())
