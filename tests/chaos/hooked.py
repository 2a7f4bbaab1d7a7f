"""The hook of a chaos run: of some pages it raises, of others it hangs or kills its own process, once each; and it
writes down what it was called with after the commit."""

from __future__ import annotations

import os
import signal
import time
import zlib
from pathlib import Path
from urllib.parse import urlsplit

from crawler.hooks import CrawlFinished, Found, PageClosed, PageSeen, Response

FOLDER = "CHAOS_HOOKS"  # the variable that names where it notes things
HARSH = f"{__name__}.Harsh"
HOOK_SECONDS = 0.5
CALLED, KILLS = "called", "kill-*"  # in that folder


class Harsh:
    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        match _share(page.url, 150):
            case 3:
                _kill_once("page", page.url)
            case 40 | 80 if _is_first("hang", page.url):
                time.sleep(3 * HOOK_SECONDS)
            case 50 | 100:
                raise ValueError("no price")
        return Found({"seen": True})

    def on_closed(self, page: PageClosed) -> None:
        if _share(page.url, 211) == 1:
            _kill_once("before", page.url)
        _note(f"closed {urlsplit(page.url).path}")
        if _share(page.url, 211) == 2:
            _kill_once("after", page.url)

    def on_finished(self, crawl: CrawlFinished) -> None:
        _note(f"finished {crawl.round}")


def _share(url: str, of: int) -> int:
    return zlib.crc32(urlsplit(url).path.encode()) % of


def _folder() -> Path:
    return Path(os.environ[FOLDER])


def _is_first(what: str, url: str) -> bool:
    try:
        (_folder() / f"{what}-{zlib.crc32(url.encode())}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _kill_once(what: str, url: str) -> None:
    if _is_first(f"kill-{what}", url):
        os.kill(os.getpid(), signal.SIGKILL)


def _note(line: str) -> None:
    with (_folder() / CALLED).open("ab", buffering=0) as file:
        file.write(f"{line}\n".encode())
