"""One row's Redis, database, site and processes, as its test sees them."""

import json
import os
import select
import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

import pytest

from tests.faults.scenes import HOOK, Scene, Step
from tests.site import Site
from tests.stack import PATIENCE, ROOT, Stack

TABLES = (
    "keptextraction",
    "pagefacts",
    "hookcalls",
    "delivery",
    "notice",
    "disagreement",
    "pagelinks",
    "page",
    "trap",
    "crawl",
)


@dataclass(frozen=True)
class Ended:
    """How a process ended: killed, stopped, done, too late, failed."""

    how: str
    pid: int


class Theatre:
    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._stage: subprocess.Popen[str] | None = None
        self._stopped: int | None = None
        self.now = 0.0

    def empty(self) -> None:
        """Nothing of an earlier row is left."""
        self._end_the_stopped()
        self.stack.redis.flushall()
        with closing(sqlite3.connect(self.stack.folder / "db.sqlite3", timeout=20)) as database, database:
            for table in TABLES:
                database.execute(f"DELETE FROM crawler_{table}")  # noqa: S608 (a name of ours)
        seconds, microseconds = self.stack.redis.time()
        self._told({"now": seconds + microseconds / 1e6, "steps": [], "strikes": [], "limit": 0})

    def play(self, scene: Scene, site: Site) -> None:
        """Up to the moment the scene is about."""
        for deed in scene.deeds:
            if deed.steps:
                steps = [_filled_in(step, scene, site) for step in deed.steps]
                ended = self.act([*able_to(scene), *steps], deed.strikes)
            else:
                ended = self.go_on()
            ends = {what.rpartition(", ")[2] for _, _, what in deed.strikes}
            assert ended.how in ("killed", "stopped") or not ends & {"kill", "stop"}, "the moment never came"
        match scene.harm:
            case "empty":
                self.stack.redis.flushall()
            case "restore":
                self._restore()

    def act(
        self, steps: Sequence[Step], strikes: Sequence[tuple[str, int, str]] = (), patience: float = 100.0
    ) -> Ended:
        """Have a process do these steps; `patience` is how many seconds of the given clock it may wait."""
        ended = self._told({"steps": steps, "strikes": strikes, "limit": self.now + patience})
        if ended.how == "stopped":
            self._stopped = ended.pid
        return ended

    def go_on(self, patience: float = 100.0) -> Ended:
        """Let the stopped process go on."""
        pid, self._stopped = self._stopped, None
        assert pid is not None
        return self._told({"pid": pid, "limit": self.now + patience})

    def _told(self, given: dict[str, Any]) -> Ended:
        stage = self._stage = self._stage or _set_up(self.stack)
        assert stage.stdin is not None
        assert stage.stdout is not None
        stage.stdin.write(f"{json.dumps(given)}\n")
        stage.stdin.flush()
        ready, _, _ = select.select([stage.stdout], [], [], PATIENCE)
        if not ready:
            self.end()
            pytest.fail(f"the stage is silent:\n{self.stack.log()[-6000:]}")
        answer = json.loads(stage.stdout.readline())
        self.now = answer["now"]
        assert answer["ended"] != "failed", self.stack.log()[-6000:]
        return Ended(answer["ended"], answer["pid"])

    def end(self) -> None:
        """Nobody stays behind; whoever acts next has a new stage."""
        stage, self._stage, self._stopped = self._stage, None, None
        if stage is not None:
            os.killpg(stage.pid, signal.SIGKILL)
            stage.communicate()

    def _restore(self) -> None:
        """Redis comes back with what it held when it was saved."""
        self.stack.redis.flushall()
        for key, ttl, value in json.loads((self.stack.folder / "saved").read_text()):
            self.stack.redis.restore(bytes.fromhex(key), ttl, bytes.fromhex(value))

    def _end_the_stopped(self) -> None:
        if self._stopped is not None:
            os.kill(self._stopped, signal.SIGKILL)
            self.go_on()

    def is_over(self, state: str) -> bool:
        """The crawl is in this state ("" = it is not there), all who asked are told, and Redis holds nothing of it but
        what has a life of its own."""
        crawls = [row["state"] for row in self.stack.rows("SELECT state FROM crawler_crawl")]
        pending = self.stack.rows("SELECT id FROM crawler_delivery WHERE state = 'pending'")
        keys = [key for key in self.stack.left_over() if not key.endswith((":dead", ":deleted", ":lock", ":lock:1"))]
        extracting = self.stack.rows("SELECT crawl_id FROM crawler_keptextraction WHERE done_at IS NULL")
        return crawls == ([state] if state else []) and not pending and not keys and not extracting

    def outcomes(self) -> dict[str, str]:
        return {row["url"]: row["outcome"] for row in self.stack.rows("SELECT url, outcome FROM crawler_page")}

    def deaths(self) -> dict[str, int]:
        """URL -> workers that died over this page, in the table's eyes."""
        rows = self.stack.rows("SELECT url, deaths FROM crawler_page WHERE deaths > 0")
        return {row["url"]: row["deaths"] for row in rows}

    def waiting_jobs(self) -> list[bytes]:
        queues = [
            self.stack.redis.lrange(f"rq:queue:{queue}", 0, -1) for queue in ("crawl", "fetch", "render", "scrapy")
        ]
        return cast(list[bytes], [job for jobs in queues for job in jobs])


def able_to(scene: Scene) -> list[Step]:
    """What a process needs to work on this scene's crawl."""
    with_scrapy: list[Step] = [["run_scrapy"]] if scene.options.get("engine") == "scrapy" else []
    with_hook: list[Step] = [["hook", scene.hooked]] if scene.hooked else []
    with_two: list[Step] = [["leave_to_second"]] if scene.two_collectors else []
    return [*([["render", dict(scene.shown)]] if scene.shown else []), *with_scrapy, *with_hook, *with_two]


def _filled_in(step: Step, scene: Scene, site: Site) -> Step:
    """The verbs that start a crawl with what it needs to know of this row."""
    if step not in (["start"], ["scheduled_start"]):
        return step
    options = {"obey_robots": False, **scene.options}
    if "notify_webhooks" in options:
        options["notify_webhooks"] = [f"{site.url}{HOOK}"]
    if "login_url" in options:
        options["login_url"] = f"{site.url}{options['login_url']}"
    return [step[0], f"{site.url}/", options]


def _set_up(stack: Stack) -> subprocess.Popen[str]:
    with (stack.folder / "processes.log").open("ab") as log:
        return subprocess.Popen(
            ["python", "-m", "tests.faults.stage"],
            cwd=ROOT,
            env=stack.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
