"""One run: a crawl from its start to its notice, with disturbances on the way, and the evidence of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any
from uuid import UUID

from django.test.utils import override_settings

from tests.login_site import FIELDS, SIGN
from tools.chaos.one_machine import evidence
from tools.chaos.one_machine.disturbances import KINDS, QUEUE, MachineSchedule
from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.queue_use import ARCHIVE
from tools.chaos.one_machine.scene import Grounds, MachineScene, NothingThere, set_up
from tools.chaos.one_machine.sites import LOGIN, SITE_ADDRESS
from tools.chaos.one_machine.user import Call, User
from tools.chaos.scene import Planned, Say

NOTICE_SECONDS = 200.0  # a delivery that was interrupted is tried again after two minutes
REST_SECONDS = 30.0  # until nothing of the crawl is left in Redis and in the queues
SETTLE_SECONDS = 30.0
CALM_SECONDS = 5.0  # whoever was killed is back by then
SECOND_NOTICE_SECONDS = 2.0
LAST_KINDS = ("kill-own-worker", "kill-stock-worker", "kill-manager")  # in a round that a user has begun
CALL_SECONDS = 40.0  # that a user's call may take; a writer waits 20 s for the database

# On a machine that has too much to do, half a second without a request does not mean that the scripts have ended.
RENDERED: dict[str, Any] = {"render": "auto", "render_timeout": 60.0, "wait_for": ["h1"]}


def run(
    grounds: Grounds, schedule: MachineSchedule, expected: int | None, say: Say = lambda text: None
) -> MachineEvidence:
    """`expected`: how many paths an undisturbed crawl asks for. The folder `run-<seed>` is left behind."""
    folder = grounds.folder / f"run-{schedule.seed}"
    dice = Random(schedule.seed)
    with set_up(grounds, folder, schedule.crew, dice, expected, say) as scene:
        scene.crew.keep()
        scene.crawl = _start(scene)
        began = time.monotonic()
        for planned in schedule.planned:
            _await_moment(scene, planned)
            _strike(scene, planned)
        scene.run_out()
        if scene.user is not None:
            user = scene.user
            _until_answered(scene, user, lambda: user.finish(scene.crawl))  # in case that it is kept open
        scene.wait_for(lambda: scene.over, grounds.finish_seconds)
        if scene.user is not None and scene.over:
            say(f"over after {time.monotonic() - began:.0f} s; a user opens it again")
            _go_on_again(scene, scene.user)
            scene.wait_for(lambda: scene.over, grounds.finish_seconds)
        seconds = time.monotonic() - began
        if scene.over:
            _await_rest(scene)
        found = evidence.collect(scene, seconds, CALM_SECONDS)
    return replace(found, left_working=[*found.left_working, *scene.orphans_left])


def _start(scene: MachineScene) -> UUID:
    grounds = scene.grounds
    start = f"{grounds.site.origin}/"
    told: dict[str, Any] = {"notify_webhooks": [grounds.site.hook]}
    if grounds.renders:
        with override_settings(CRAWLER_PRIVATE_HOSTS=[SITE_ADDRESS]):  # and no other address of this machine
            return scene.stack.start(start, allow_private=False, **RENDERED, **told)
    more: dict[str, Any] = {"ack": "early"} if grounds.acks_early else {}
    more |= {"engine": "scrapy"} if grounds.runs_scrapy else {}
    if grounds.is_queue:
        more |= {"stay_open": scene.dice.random() < 0.5, "priorities": [f"{ARCHIVE}=0"]}
    if grounds.logs_in:
        more |= {"login_url": f"{grounds.site.origin}{LOGIN}", "login_check": scene.dice.choice(("", SIGN))}
    return scene.stack.start(start, login_fields=FIELDS if grounds.logs_in else (), **told, **more)


def _await_moment(scene: MachineScene, planned: Planned) -> None:
    scene.wait_for(lambda: scene.share >= planned.at or scene.over, scene.grounds.moment_seconds)
    if planned.settled:
        scene.wait_for(lambda: scene.settled or scene.over, SETTLE_SECONDS)


def _strike(scene: MachineScene, planned: Planned) -> None:
    kind = KINDS[planned.kind]
    if scene.over and planned.at < 1.0 and QUEUE not in kind.needs:
        scene.say(f"{planned.kind}: too late, the crawl is over")
        return
    began, share = time.time(), scene.share
    try:
        what = kind.strike(scene, Random(planned.dice))
    except NothingThere:
        scene.say(f"{planned.kind} at {share:.0%}: found nothing to be done to")
        return
    scene.say(f"{planned.kind} at {share:.0%}: {what}")
    scene.note(planned.kind, what, began)


def _until_answered(scene: MachineScene, user: User, call: Callable[[], Call]) -> None:
    """A user repeats what has failed, as while Redis or the database does not respond."""
    for _ in range(10):
        made = call()
        scene.wait_for(user.has_settled, CALL_SECONDS)
        if made.answer is not None:
            return


def _go_on_again(scene: MachineScene, user: User) -> None:
    """A crawl that is over is given a page, and workers are killed in its next round."""
    _until_answered(scene, user, lambda: user.add(scene.crawl, ["/extra/last"], again=False))
    _until_answered(scene, user, lambda: user.again(scene.crawl, ["/", "/page/7"]))
    scene.goes_on()
    roles = {member.role for member in scene.crew.workers()}
    kinds = [kind for name in LAST_KINDS if (kind := KINDS[name]).needs <= roles]
    _strike(scene, Planned(scene.dice.choice(kinds).name, 1.0, scene.dice.randrange(1 << 30)))
    scene.run_out()


def _await_rest(scene: MachineScene) -> None:
    """Until the notice has arrived and nothing of the crawl is left behind."""
    rounds = evidence.rounds(scene)
    scene.wait_for(lambda: len({told.id for told in scene.site.received}) >= rounds, NOTICE_SECONDS)
    if scene.user is not None:
        scene.wait_for(lambda: not (evidence.not_called(scene) or evidence.are_pending(scene)), NOTICE_SECONDS)
    # A second notice could come, and between two jobs a worker seems to be at rest, too.
    scene.wait_for(lambda: evidence.nothing_left(scene), REST_SECONDS, lasting=SECOND_NOTICE_SECONDS)
