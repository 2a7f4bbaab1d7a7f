"""What a run on this machine left behind: what both scenes know of a crawl, and what was struck and timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import redis

from crawler.core.pages.outcomes import Category, Outcome
from tools.chaos.evidence import Evidence, left_in_queues, left_in_redis, recorded
from tools.chaos.one_machine.crew import BROWSER_PLACES, Role
from tools.chaos.one_machine.hooked import CALLED, HANG, strikes_in
from tools.chaos.one_machine.scene import Clocked, MachineScene
from tools.chaos.one_machine.sites import MembersSite
from tools.chaos.one_machine.user import User
from tools.chaos.processes import children_of, orphans
from tools.chaos.scene import Struck

ASKED = (Category.FETCHED, Category.FAILED)


@dataclass(frozen=True, kw_only=True)
class MachineEvidence(Evidence):
    left_working: Sequence[str]  # names of workers
    struck: Sequence[Struck]
    crew: Sequence[Role]
    seconds: float
    refetches: Sequence[float]  # seconds from a worker's death to its pages' next requests
    revivals: Sequence[float]  # seconds from the start of one worker to the first request
    announced: float | None  # seconds from the last closing to the notice, where nothing was being disturbed
    places: int = BROWSER_PLACES  # of each browser worker
    logins: int = 0  # times that the form was sent
    knocks: int = 0  # connections to the address that no page may reach
    user: User | None = None  # who uses the crawl as a queue; else no page is opened again
    hook_strikes: Mapping[str, int] = field(default_factory=dict)  # what hooks did to their processes -> times
    not_called: Sequence[str] = ()  # calls of hooks that were not made

    @property
    def hook_kills(self) -> int:
        """Processes that a hook has killed."""
        return sum(times for what, times in self.hook_strikes.items() if what != HANG)

    @property
    def left_out(self) -> int:
        """Pages that a pattern closed."""
        return sum(outcome == "excluded" for outcome, _ in self.pages.values())


def collect(scene: MachineScene, seconds: float, calm: float) -> MachineEvidence:
    """`calm`: seconds without disturbance before the last page closed, for the time of the notice to count."""
    return MachineEvidence(
        **recorded(scene.database.rows, scene.crawl),
        received=[received.id for received in scene.site.received],
        left_in_redis=left_in_redis(scene.redis, scene.crawl),
        left_in_queues=left_in_queues(scene.redis),
        left_working=[*left_working(scene), *orphans()],
        hits=scene.site.hits,
        struck=tuple(scene.struck),
        crew=tuple(member.role for member in scene.crew.members if member.role is not Role.WEB),
        seconds=seconds,
        refetches=_times(scene, Clocked.REFETCH),
        revivals=_times(scene, Clocked.REVIVAL),
        announced=_announced(scene, calm),
        places=scene.grounds.places,
        logins=scene.site.members.logins if isinstance(scene.site, MembersSite) else 0,
        knocks=len(scene.grounds.canary.knocks) if scene.grounds.canary else 0,
        user=scene.user,
        hook_strikes=strikes_in(scene.hooks),
        not_called=not_called(scene) if scene.user else (),
    )


def rounds(scene: MachineScene) -> int:
    return int(scene.database.rows("SELECT round FROM crawler_crawl WHERE id = ?", scene.crawl)[0]["round"])


def not_called(scene: MachineScene) -> list[str]:
    """What hooks were not told of: each page that was requested, and the end of each round."""
    noted = set((scene.hooks / CALLED).read_text().splitlines()) if (scene.hooks / CALLED).exists() else set()
    rows = scene.database.rows("SELECT url, outcome FROM crawler_page WHERE crawl_id = ?", scene.crawl)
    asked = [row["url"] for row in rows if row["outcome"] and Outcome(row["outcome"]).category in ASKED]
    wanted = {f"closed {urlsplit(url).path}" for url in asked}
    return sorted((wanted | {f"finished {number}" for number in range(1, rounds(scene) + 1)}) - noted)


def are_pending(scene: MachineScene) -> bool:
    """Whether calls of hooks are to be made once more: a worker that a hook has killed may have noted nothing."""
    return bool(scene.database.rows("SELECT id FROM crawler_delivery WHERE state = 'pending' LIMIT 1"))


def nothing_left(scene: MachineScene) -> bool:
    in_redis = left_in_redis(scene.redis, scene.crawl) or left_in_queues(scene.redis)
    return not (in_redis or left_working(scene) or orphans())


def left_working(scene: MachineScene) -> list[str]:
    """Workers that have not come to rest: dead, with a work-horse, or busy in RQ's eyes."""
    try:
        busy = scene.redis.at_work()
    except redis.RedisError:
        busy = {}
    return [
        member.name
        for member in scene.crew.members
        if member.role is not Role.WEB
        and (
            (pid := member.pid) is None
            or (member.role is not Role.STOCK and pid in busy)
            or (member.role in (Role.STOCK, Role.OWN) and children_of(pid))
        )
    ]


def _times(scene: MachineScene, what: Clocked) -> list[float]:
    return [watch.seconds for watch in scene.stopwatches if watch.what is what and watch.seconds is not None]


def _announced(scene: MachineScene, calm: float) -> float | None:
    closed = scene.database.rows("SELECT MAX(at) AS at FROM chaos_page WHERE new = 1")[0]["at"]
    if scene.user or closed is None or not scene.site.received or closed < scene.quiet_since + calm:
        return None
    return scene.site.received[0].at - float(closed)
