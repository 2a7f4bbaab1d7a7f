"""Everything one run on this machine needs: the site, the database, Redis, the processes, the stopwatches."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import UUID

import redis

from crawler.core.protocol.retries import suffix_of
from crawler.frontier.frontier import Frontier
from crawler.launch.process_group import Children
from tests.hostile.server import Canary
from tests.stack import Stack
from tools.chaos.one_machine.crew import BROWSER_PLACES, Crew, Member, Role
from tools.chaos.one_machine.database import Database, Volume
from tools.chaos.one_machine.hooked import FOLDER, HARSH, HOOK_SECONDS
from tools.chaos.one_machine.user import User
from tools.chaos.processes import end_orphans
from tools.chaos.redis_server import RedisServer, free_port
from tools.chaos.scene import Say, Scene, Struck
from tools.chaos.site import Site

T = TypeVar("T")

END_SECONDS = 10.0  # that a Chromium has to end by itself when its worker was killed
FIND_SECONDS = 10.0  # how long a target is waited for
CLOSE_LOOK_SECONDS = 0.05
LAST_WORDS = 0.05  # seconds in which a request may still arrive from a process that was killed


class NothingThere(Exception):
    """A disturbance found nothing to be done to."""


class Clocked(StrEnum):
    """What is timed."""

    REFETCH = "refetch"  # from a worker's death to the first request for one of the pages it had in hand
    REVIVAL = "revival"  # from the start of one worker, all others being dead, to the first request


@dataclass
class Stopwatch:
    what: Clocked
    began: float  # epoch seconds
    paths: frozenset[str] = frozenset()  # a request for any of these ends it; empty: any request
    ended: float | None = None
    disturbed: bool = False  # something else happened meanwhile: the time says nothing

    @property
    def seconds(self) -> float | None:
        return None if self.ended is None or self.disturbed else self.ended - self.began


@dataclass(frozen=True)
class Grounds:
    """What the runs of one session share."""

    folder: Path
    template: Path
    site: Site
    mount: bool
    canary: Canary | None = None  # where pages are rendered: what no page may reach
    finish_seconds: float = 120.0  # after the last disturbance; a crawl that is not finished then is stuck
    moment_seconds: float = 15.0  # a disturbance whose moment does not come by then happens anyway
    acks_early: bool = False  # pages of dead workers are not asked for again
    is_queue: bool = False  # users add pages, change options and so on, and hooks are called
    runs_scrapy: bool = False  # the pages go through Scrapy
    places: int = BROWSER_PLACES  # of each browser worker: pages it renders at a time
    collectors: int = 1  # of each crawl
    logs_in: bool = False  # the site is one for members

    @property
    def more(self) -> tuple[Role, ...]:
        """Workers besides the schedule's."""
        return (Role.SCRAPY, Role.SCRAPY) if self.runs_scrapy else ()

    @property
    def renders(self) -> bool:
        return self.canary is not None


@dataclass(kw_only=True)
class MachineScene(Scene):
    """`expected` is the number of paths an undisturbed crawl asks for; None in that crawl itself."""

    grounds: Grounds
    database: Database
    volume: Volume | None
    redis: RedisServer
    crew: Crew
    stack: Stack
    expected: int | None
    user: User | None = None  # who uses the crawl as a queue
    crawl: UUID = field(default_factory=lambda: UUID(int=0))
    stopwatches: list[Stopwatch] = field(default_factory=list)
    orphans_left: list[str] = field(default_factory=list)  # processes that outlived their worker to the very end

    STEP = 0.01
    LOOK_SECONDS = 0.1

    @property
    def site(self) -> Site:
        return self.grounds.site

    @property
    def frontier(self) -> Frontier:
        return Frontier(self.redis.client, str(self.crawl))

    @property
    def share(self) -> float:
        """How much of the site was answered, from 0 to 1."""
        return self.site.count_done / self.expected if self.expected else 0.0

    def is_over(self) -> bool:
        rows = self.database.glance("SELECT state FROM crawler_crawl WHERE id = ?", self.crawl)
        return any(row["state"] != "running" for row in rows or ())

    def may_go_on(self) -> bool:
        return self.user is not None

    def goes_on(self) -> None:
        """The crawl had finished, and runs again."""
        self._over, self._looked_at = False, 0.0

    @property
    def hooks(self) -> Path:
        """Where hooks note their calls."""
        return self.folder / "hooks"

    @property
    def settled(self) -> bool:
        """Whether what was struck has ended, and what it cost was seen."""
        return not self._later and not any(watch.ended is None for watch in self.stopwatches)

    def breathe(self) -> None:
        self.crew.keep()
        super().breathe()
        for watch in self.stopwatches:
            if watch.ended is None:
                watch.ended = self._end_of(watch)

    def awaited(self, look: Callable[[], T], *, closely: bool = False) -> T:
        """What is found, once something is. `closely`: with no pause between most looks. Raises NothingThere."""
        found: list[T] = []

        def has_found() -> bool:
            until = time.monotonic() + (CLOSE_LOOK_SECONDS if closely else 0.0)
            while not (seen := look()) and time.monotonic() < until:
                pass
            found.extend([seen] if seen else [])
            return bool(found)

        self.wait_for(lambda: has_found() or self.over, FIND_SECONDS)
        if not found:
            raise NothingThere
        return found[0]

    def chosen(self, dice: Random, *roles: Role, busy: bool) -> tuple[Member, int]:
        """A living worker and its process, with pages in hand if that is asked for and one comes along in time. Raises
        NothingThere."""
        members = self.crew.workers(*roles)
        first = dice.randrange(len(members))

        def living(*, busy: bool) -> list[tuple[Member, int]]:
            at_work = self.holders() if busy else set()
            known = [(member, member.pid) for member in (*members[first:], *members[:first])]
            return [(each, pid) for each, pid in known if pid and (not busy or at_work & set(each.family()))]

        try:
            return self.awaited(lambda: living(busy=busy))[0]
        except NothingThere:
            if others := living(busy=False):
                return others[0]
            raise

    def holders(self) -> set[int]:
        """The processes that hold leases."""
        try:
            leases = self.frontier.leases.all()
        except redis.RedisError:
            return set()
        return {_pid(lease.holder) for lease, _ in leases if lease.held and lease.holder}

    def note(self, kind: str, what: str, began: float) -> None:
        """A disturbance took place: whatever was being timed when it began says nothing. Finding its target may have
        taken some seconds since then."""
        self.quiet_since = time.time()
        self.struck.append(Struck(kind, what, self.quiet_since, self.share))
        for watch in self.stopwatches:
            if watch.began < began and (watch.ended is None or watch.ended > began):
                watch.disturbed = True

    def time_refetch(self, dead: Sequence[int]) -> None:
        """Time how long the open pages of these processes wait. To be called right after their death."""
        if self.grounds.acks_early:
            return
        busy = bool(self._later)
        time.sleep(LAST_WORDS)
        began = time.time()
        with contextlib.suppress(redis.RedisError):
            leases = [lease for lease, _ in self.frontier.leases.all() if _pid(lease.holder) in dead]
            lanes = [lane_and_pages for lease in leases for lane_and_pages in lease.slices.values()]
            ids = [page for lane, pages in lanes if not suffix_of(lane) for page in pages]  # others wait for a place
            paths = frozenset(self._open_paths(ids))
            if paths:
                self.stopwatches.append(Stopwatch(Clocked.REFETCH, began, paths, disturbed=busy))

    def time_revival(self) -> Stopwatch:
        watch = Stopwatch(Clocked.REVIVAL, time.time(), disturbed=bool(self._later))
        self.stopwatches.append(watch)
        return watch

    def _open_paths(self, ids: Sequence[int]) -> Iterator[str]:
        query = f"SELECT url FROM crawler_page WHERE status = 0 AND id IN ({', '.join('?' * len(ids))})"  # noqa: S608
        for row in self.database.glance(query, *ids) or ():
            yield urlsplit(row["url"]).path

    def _end_of(self, watch: Stopwatch) -> float | None:
        request = self.site.first_request(watch.began, watch.paths or None)
        if request is not None:
            return request.at
        if watch.what is Clocked.REVIVAL and self.expected and self.site.count_done >= self.expected:
            return self._progress(watch.began)  # nothing is left to be asked for
        return time.time() if watch.what is Clocked.REVIVAL and self.over else None

    def _progress(self, after: float) -> float | None:
        """When the table changed after this moment."""
        query = "SELECT MIN(at) AS at FROM (SELECT at FROM chaos_page UNION SELECT at FROM chaos_crawl) WHERE at > ?"
        return next((row["at"] for row in self.database.glance(query, after) or ()), None)


def _pid(holder: str) -> int:
    return int(holder.rpartition(":")[2] or 0)


def prepare(folder: Path) -> Path:
    """An empty database with its witnesses; each run begins with a copy."""
    folder.mkdir(parents=True)
    file = folder / "db.sqlite3"
    Stack(folder, "redis://127.0.0.1:1/0", DATABASE_URL=f"sqlite:///{file}").end()
    Database(file).install_witnesses()
    return file


@contextlib.contextmanager
def set_up(
    grounds: Grounds, folder: Path, roles: Sequence[Role], dice: Random, expected: int | None, say: Say
) -> Iterator[MachineScene]:
    """A fresh database, Redis and crew; for a queue with a user and hooks. Afterwards nothing runs and nothing is
    mounted; the folder is left."""
    folder.mkdir(parents=True)
    temporary = folder / "tmp"  # Chromium's profiles, some of which a killed one leaves behind
    temporary.mkdir()
    volume = Volume(folder / "volume")
    if grounds.mount and not volume.mount():
        raise RuntimeError(f"no volume could be mounted at {volume.place}")
    volume.place.mkdir(exist_ok=True)
    file = volume.place / "db.sqlite3"
    Database(grounds.template).copy_to(file)
    (folder / "db.sqlite3").symlink_to(file)
    grounds.site.forget()
    with Children(grace=2.0) as children:
        server = RedisServer(children, folder / "redis", folder / "redis.log")
        server.start()
        settings = {"DATABASE_URL": f"sqlite:///{file}", "CRAWLER_COLLECTORS": f"{grounds.collectors}"}
        stack = Stack(folder, server.url, None, **settings)
        if grounds.is_queue:
            (folder / "hooks").mkdir()
            stack.env |= {"CRAWLER_HOOKS": HARSH, "CRAWLER_HOOK_SECONDS": f"{HOOK_SECONDS}", FOLDER: f"{folder}/hooks"}
        environment = {**stack.env, "TMPDIR": str(temporary), "CRAWLER_BROWSER_PLACES": str(grounds.places)}
        crew = Crew(children, folder, environment, roles, f"127.0.0.1:{free_port()}", dice)
        database = Database(file)
        scene = MachineScene(
            folder=folder,
            dice=dice,
            say=say,
            grounds=grounds,
            database=database,
            volume=volume if grounds.mount else None,
            redis=server,
            crew=crew,
            stack=stack,
            expected=expected,
            user=User(folder, stack.env, grounds.site.origin) if grounds.is_queue else None,
        )
        try:
            yield scene
        finally:
            crew.kill_everybody()
            if scene.user is not None:
                scene.user.end()
            scene.orphans_left = end_orphans(END_SECONDS)
            server.kill()
            server.client.close()
            stack.end()
            database.unlock()
            if grounds.mount:
                volume.free()
                database.copy_to(folder / "after.sqlite3")
                volume.unmount()
