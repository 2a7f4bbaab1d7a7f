"""One run: hosts, two crawls, the faults of a scenario, and the evidence of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tools.chaos.evidence import left_in_redis
from tools.hosts import evidence
from tools.hosts.evidence import Run
from tools.hosts.scenarios import Scenario
from tools.hosts.scene import Scene, set_up

NOTICE_SECONDS = 200.0  # a delivery that was interrupted is tried again after two minutes
REST_SECONDS = 40.0  # until nothing of the crawls is left in Redis and in the queues
SECOND_NOTICE_SECONDS = 2.0
GONE_SECONDS = 60.0  # until no worker runs: it is wanted for LOWER_AFTER_SECONDS, and has 10 s to end
PROGRESS_EVERY = 10.0


def run(
    scenario: Scenario, folder: Path, template: Path, seed: int, say: Callable[[str], None] = lambda text: None
) -> Run:
    """The folder is left behind."""
    with set_up(folder, template, scenario.setting, Random(seed), say) as scene:
        began = time.monotonic()
        say(f"two crawls of {sum(len(crawl.expected.pages) for crawl in scene.crawls)} pages have begun")
        scenario.strike(scene)
        while not scene.over and not scene.out_of_time:
            scene.wait_for(lambda: scene.over or scene.out_of_time, PROGRESS_EVERY)
            say(f"{time.monotonic() - began:.0f} s: {scene.share:.0%} answered")
        seconds = time.monotonic() - began
        scene.run_out()
        if scene.over:
            _await_rest(scene)
            _time_end_of_workers(scene)
        return evidence.collect(scene, seconds)


def _await_rest(scene: Scene) -> None:
    """Until the notices have arrived and nothing of the crawls is left behind."""
    crawls = {str(crawl.id) for crawl in scene.crawls}
    scene.wait_for(lambda: crawls <= {crawl for site in scene.sites for crawl, _ in site.told}, NOTICE_SECONDS)
    scene.wait_for(lambda: _nothing_left(scene), REST_SECONDS)
    scene.rest(SECOND_NOTICE_SECONDS)


def _time_end_of_workers(scene: Scene) -> None:
    """How long it takes until those are gone that nobody needs any more."""
    if scene.setting.autoscaled:
        began = time.monotonic()
        scene.wait_for(lambda: not scene.samples[-1].running, GONE_SECONDS)
        scene.measured["gone"] = time.monotonic() - began


def _nothing_left(scene: Scene) -> bool:
    left = [key for crawl in scene.crawls for key in left_in_redis(scene.redis, crawl.id)]
    return not left and not evidence.left_jobs(scene.redis)
