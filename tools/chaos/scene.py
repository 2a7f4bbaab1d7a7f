"""Everything one run needs, and how its time passes: the site, the database, Redis, the processes, the stopwatches."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from urllib.parse import urlsplit
from uuid import UUID

import redis

from crawler.core.protocol.retries import suffix_of
from crawler.frontier.frontier import Frontier
from crawler.launch.process_group import Children
from tests.hostile.server import Canary
from tests.stack import Stack
from tools.chaos.browser_processes import end_browsers
from tools.chaos.database import Database, Volume
from tools.chaos.hooked import FOLDER, HARSH, HOOK_SECONDS
from tools.chaos.memory import Memory, free_port
from tools.chaos.processes import BROWSER_PLACES, Crew, Role
from tools.chaos.site import Site
from tools.chaos.user import User

STEP = 0.01  # seconds between two looks at everything
END_SECONDS = 10.0  # that a Chromium has to end by itself when its worker was killed
LAST_WORDS = 0.05  # seconds in which a request may still arrive from a process that was killed


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
class Struck:
    """A disturbance that took place."""

    kind: str
    what: str
    at: float  # epoch seconds, when it was done
    share: float  # of the pages that were answered by then


@dataclass
class Scene:
    """`expected` is the number of paths an undisturbed crawl asks for; None in that crawl itself."""

    folder: Path
    site: Site
    database: Database
    volume: Volume | None
    memory: Memory
    crew: Crew
    stack: Stack
    dice: Random
    expected: int | None
    canary: Canary | None = None  # what no page may reach
    acks_early: bool = False  # pages of dead workers are not asked for again
    user: User | None = None  # who uses the crawl as a queue
    places: int = BROWSER_PLACES  # of each browser worker
    crawl: UUID = field(default_factory=lambda: UUID(int=0))
    struck: list[Struck] = field(default_factory=list)
    stopwatches: list[Stopwatch] = field(default_factory=list)
    browsers_left: list[str] = field(default_factory=list)  # processes that outlived their worker to the very end
    quiet_since: float = 0.0  # epoch seconds: the end of the last disturbance
    _later: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    _looked_at: float = 0.0
    _over: bool = False

    @property
    def frontier(self) -> Frontier:
        return Frontier(self.memory.client, str(self.crawl))

    @property
    def share(self) -> float:
        """How much of the site was answered, from 0 to 1."""
        return self.site.count_done / self.expected if self.expected else 0.0

    @property
    def over(self) -> bool:
        """Whether the crawl's row says so; asked ten times a second at most."""
        if (not self._over or self.user) and time.monotonic() - self._looked_at > 0.1:
            self._looked_at = time.monotonic()
            rows = self.database.glance("SELECT state FROM crawler_crawl WHERE id = ?", self.crawl.hex)
            self._over = any(row["state"] != "running" for row in rows or ())
        return self._over

    def goes_on(self) -> None:
        """The crawl was over, and runs again."""
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
        """Let a moment pass in which everything goes on."""
        self.crew.keep()
        now = time.monotonic()
        for due, action in [entry for entry in self._later if entry[0] <= now]:
            self._later.remove((due, action))
            action()
            self.quiet_since = time.time()
        for watch in self.stopwatches:
            if watch.ended is None:
                watch.ended = self._end_of(watch)
        time.sleep(STEP)

    def wait_for(self, what: Callable[[], object], patience: float) -> bool:
        deadline = time.monotonic() + patience
        while not what():
            if time.monotonic() > deadline:
                return False
            self.breathe()
        return True

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Part of a disturbance, which lasts until then."""
        self._later.append((time.monotonic() + seconds, action))

    def run_out(self) -> None:
        """Wait until everything that was to happen later has happened."""
        self.wait_for(lambda: not self._later, 60)

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
        if self.acks_early:
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


def for_so_long(
    seconds: float, what: Callable[[], object], clock: Callable[[], float] = time.monotonic
) -> Callable[[], bool]:
    """Whether it has been so at each look of this many seconds. Between two jobs a worker seems to be at rest, too."""
    began = clock()

    def has_lasted() -> bool:
        nonlocal began
        if not what():
            began = clock()
            return False
        return clock() - began >= seconds

    return has_lasted


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
    folder: Path,
    template: Path,
    site: Site,
    roles: Sequence[Role],
    dice: Random,
    expected: int | None,
    mount: bool,
    canary: Canary | None = None,
    *,
    is_queue: bool = False,
    places: int = BROWSER_PLACES,
    collectors: int = 1,
) -> Iterator[Scene]:
    """A fresh database, Redis and crew; for a queue with a user and hooks. Afterwards nothing runs and nothing is
    mounted; the folder is left."""
    folder.mkdir(parents=True)
    temporary = folder / "tmp"  # Chromium's profiles, some of which a killed one leaves behind
    temporary.mkdir()
    volume = Volume(folder / "volume")
    if mount and not volume.mount():
        raise RuntimeError(f"no volume could be mounted at {volume.place}")
    volume.place.mkdir(exist_ok=True)
    file = volume.place / "db.sqlite3"
    Database(template).copy_to(file)
    (folder / "db.sqlite3").symlink_to(file)
    site.forget()
    with Children(grace=2.0) as children:
        memory = Memory(children, folder / "redis", folder / "redis.log")
        memory.start()
        settings = {"DATABASE_URL": f"sqlite:///{file}", "CRAWLER_COLLECTORS": f"{collectors}"}
        stack = Stack(folder, memory.url, **settings)
        environment = {**stack.env, "TMPDIR": str(temporary), "CRAWLER_BROWSER_PLACES": str(places)}
        if is_queue:
            (folder / "hooks").mkdir()
            stack.env |= {"CRAWLER_HOOKS": HARSH, "CRAWLER_HOOK_SECONDS": f"{HOOK_SECONDS}", FOLDER: f"{folder}/hooks"}
            environment |= stack.env
        crew = Crew(children, folder, environment, roles, f"127.0.0.1:{free_port()}", dice)
        database = Database(file)
        scene = Scene(folder, site, database, volume if mount else None, memory, crew, stack, dice, expected, canary)
        scene.places = places
        scene.user = User(folder, stack.env, site.origin) if is_queue else None
        try:
            yield scene
        finally:
            crew.kill_everybody()
            if scene.user is not None:
                scene.user.end()
            scene.browsers_left = end_browsers(END_SECONDS)
            memory.kill()
            memory.client.close()
            stack.end()
            database.unlock()
            if mount:
                volume.free()
                database.copy_to(folder / "after.sqlite3")
                volume.unmount()
