"""One run: a crawl from its start to its notice, with disturbances on the way, and the evidence of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from uuid import UUID

from django.test.utils import override_settings

from tests.hostile.server import Canary
from tests.login_site import FIELDS, SIGN
from tools.chaos import evidence
from tools.chaos.disturbances import KINDS
from tools.chaos.evidence import Evidence
from tools.chaos.members import LOGIN
from tools.chaos.processes import BROWSER_PLACES, Role
from tools.chaos.queue_disturbances import ARCHIVE
from tools.chaos.scene import Scene, for_so_long, set_up
from tools.chaos.schedule import Planned, Schedule
from tools.chaos.shop import SITE_ADDRESS
from tools.chaos.site import Site
from tools.chaos.user import Call, User

FINISH_SECONDS = 120.0  # after the last disturbance; a crawl that is not finished then is stuck
NOTICE_SECONDS = 200.0  # a delivery that was interrupted is tried again after two minutes
REST_SECONDS = 30.0  # until nothing of the crawl is left in Redis and in the queues
MOMENT_SECONDS = 15.0  # a disturbance whose moment does not come by then happens anyway
SETTLE_SECONDS = 30.0
CALM_SECONDS = 5.0  # whoever was killed is back by then
SECOND_NOTICE_SECONDS = 2.0
LAST_KINDS = ("kill-own-worker", "kill-stock-worker", "kill-manager")  # in a round that a user has begun
CALL_SECONDS = 40.0  # that a user's call may take; a writer waits 20 s for the database


@dataclass(frozen=True)
class Grounds:
    """What the runs of one session share."""

    folder: Path
    template: Path
    site: Site
    mount: bool
    canary: Canary | None = None  # where pages are rendered: what no page may reach
    finish_seconds: float = FINISH_SECONDS
    moment_seconds: float = MOMENT_SECONDS
    acks_early: bool = False  # the crawls do
    is_queue: bool = False  # users add pages, change options and so on, and hooks are called
    runs_scrapy: bool = False  # the pages go through Scrapy
    places: int = BROWSER_PLACES  # of each browser worker: pages it renders at a time
    collectors: int = 1  # of each crawl
    logs_in: bool = False  # the site is one for members

    @property
    def more(self) -> tuple[Role, ...]:
        """Workers beside those of a schedule."""
        return WITH_SCRAPY if self.runs_scrapy else ()

    @property
    def renders(self) -> bool:
        return self.canary is not None


# On a machine that has too much to do, half a second without a request does not mean that the scripts have ended.
RENDERED = {"render": "auto", "render_timeout": 60.0, "wait_for": ["h1"]}
UNDISTURBED = Schedule(0, (Role.STOCK, Role.STOCK, Role.OWN), ())
WITH_SCRAPY = (Role.SCRAPY, Role.SCRAPY)
UNDISTURBED_WITH_SCRAPY = Schedule(0, (Role.STOCK, Role.OWN, *WITH_SCRAPY), ())
UNDISTURBED_WITH_BROWSERS = Schedule(0, (Role.OWN, Role.BROWSER, Role.BROWSER), ())


def run(
    grounds: Grounds, schedule: Schedule, expected: int | None, say: Callable[[str], None] = lambda text: None
) -> Evidence:
    """`expected`: how many paths an undisturbed crawl asks for. The folder `run-<seed>` is left behind."""
    folder = grounds.folder / f"run-{schedule.seed}"
    dice = Random(schedule.seed)
    with set_up(
        folder,
        grounds.template,
        grounds.site,
        schedule.crew,
        dice,
        expected,
        grounds.mount,
        grounds.canary,
        is_queue=grounds.is_queue,
        places=grounds.places,
        collectors=grounds.collectors,
    ) as scene:
        scene.acks_early = grounds.acks_early
        scene.crew.keep()
        scene.crawl = _start(scene, grounds)
        began = time.monotonic()
        for planned in schedule.planned:
            _await_moment(scene, planned, grounds.moment_seconds)
            _strike(scene, planned, say)
        scene.run_out()
        if scene.user is not None:
            user = scene.user
            _until_answered(scene, user, lambda: user.finish(scene.crawl))  # in case that it is kept open
        scene.wait_for(lambda: scene.over, grounds.finish_seconds)
        if scene.user is not None and scene.over:
            say(f"over after {time.monotonic() - began:.0f} s; a user opens it again")
            _go_on_again(scene, scene.user, dice, say)
            scene.wait_for(lambda: scene.over, grounds.finish_seconds)
        seconds = time.monotonic() - began
        if scene.over:
            _await_rest(scene)
        found = evidence.collect(scene, seconds, CALM_SECONDS)
    return replace(found, left_working=[*found.left_working, *scene.browsers_left])


def _start(scene: Scene, grounds: Grounds) -> UUID:
    told = {"notify_webhooks": [grounds.site.hook]}
    if grounds.logs_in:
        login = {"login_url": f"{grounds.site.origin}{LOGIN}", "login_check": scene.dice.choice(("", SIGN))}
        return scene.stack.start(f"{grounds.site.origin}/", login_fields=FIELDS, **login, **told)
    if not grounds.renders:
        more: dict[str, object] = {"ack": "early"} if grounds.acks_early else {}
        more |= {"engine": "scrapy"} if grounds.runs_scrapy else {}
        if grounds.is_queue:
            more |= {"stay_open": scene.dice.random() < 0.5, "priorities": [f"{ARCHIVE}=0"]}
        return scene.stack.start(f"{grounds.site.origin}/", **told, **more)
    with override_settings(CRAWLER_PRIVATE_HOSTS=[SITE_ADDRESS]):  # and no other address of this machine
        return scene.stack.start(f"{grounds.site.origin}/", allow_private=False, **RENDERED, **told)


def _await_moment(scene: Scene, planned: Planned, patience: float) -> None:
    scene.wait_for(lambda: scene.share >= planned.at or scene.over, patience)
    if planned.settled:
        scene.wait_for(lambda: scene.settled or scene.over, SETTLE_SECONDS)


def _strike(scene: Scene, planned: Planned, say: Callable[[str], None]) -> None:
    if scene.over and planned.at < 1.0 and not KINDS[planned.kind].queue:
        say(f"{planned.kind}: too late, the crawl is over")
        return
    began, share = time.time(), scene.share
    what = KINDS[planned.kind].strike(scene, Random(planned.dice))
    say(f"{planned.kind} at {share:.0%}: {what or 'found nothing to be done to'}")
    if what is not None:
        scene.note(planned.kind, what, began)


def _until_answered(scene: Scene, user: User, call: Callable[[], Call]) -> None:
    """A user repeats what has failed, as while Redis or the database does not respond."""
    for _ in range(10):
        made = call()
        scene.wait_for(user.has_settled, CALL_SECONDS)
        if made.answer is not None:
            return


def _go_on_again(scene: Scene, user: User, dice: Random, say: Callable[[str], None]) -> None:
    """A crawl that is over is given a page, and workers are killed in its next round."""
    _until_answered(scene, user, lambda: user.add(scene.crawl, ["/extra/last"], again=False))
    _until_answered(scene, user, lambda: user.again(scene.crawl, ["/", "/page/7"]))
    scene.goes_on()
    roles = {place.role for place in scene.crew.workers()}
    kinds = [kind for name in LAST_KINDS if (kind := KINDS[name]).needs <= roles]
    _strike(scene, Planned(dice.choice(kinds).name, 1.0, False, dice.randrange(1 << 30)), say)
    scene.run_out()


def _await_rest(scene: Scene) -> None:
    """Until the notice has arrived and nothing of the crawl is left behind."""
    rounds = evidence.rounds(scene)
    scene.wait_for(lambda: len({told.id for told in scene.site.received}) >= rounds, NOTICE_SECONDS)
    if scene.user is not None:
        scene.wait_for(lambda: not (evidence.not_called(scene) or evidence.are_pending(scene)), NOTICE_SECONDS)
    has_rested = for_so_long(SECOND_NOTICE_SECONDS, lambda: evidence.nothing_left(scene))  # a second notice could come
    scene.wait_for(has_rested, REST_SECONDS + SECOND_NOTICE_SECONDS)
