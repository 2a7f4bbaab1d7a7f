"""Run scenarios over several hosts and tell which promises were kept."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from crawler.launch.process_group import Children
from tools.chaos.evidence import left_in_queues, left_in_redis
from tools.chaos.hosts.evidence import HostsEvidence, collect
from tools.chaos.hosts.network import Unavailable, check_usable
from tools.chaos.hosts.report import HostsResult, report_of
from tools.chaos.hosts.scenarios import SCENARIOS, Scenario, mixture
from tools.chaos.hosts.scene import HostsScene, set_up
from tools.chaos.hosts.services import environment_of, made_database, programs
from tools.chaos.scene import Say
from tools.chaos.session import Run, add_arguments, all_of, parsed, repeated, say, work_folder

UNUSABLE = 2  # exit code
NOTICE_SECONDS = 200.0  # a delivery that was interrupted is tried again after two minutes
REST_SECONDS = 40.0  # until nothing of the crawls is left in Redis and in the queues
SECOND_NOTICE_SECONDS = 2.0
GONE_SECONDS = 60.0  # until no worker runs: it is wanted for LOWER_AFTER_SECONDS, and has 10 s to end
PROGRESS_EVERY = 10.0

EPILOG = "Scenarios:\n" + "".join(f"  {name:<18}{scenario.about}\n" for name, scenario in SCENARIOS.items())


def main(words: Sequence[str]) -> int:
    given = arguments(words)
    try:
        check_usable()
        programs()
    except Unavailable as error:
        say(f"bin/hosts: {error}")
        return UNUSABLE
    with work_folder("hosts") as folder:
        say("making a database")
        with Children(grace=5.0) as children:
            data = folder / "template-data"
            data.mkdir()
            settings = environment_of("", "redis://:-@127.0.0.1:1/0", data)
            template = made_database(children, folder / "template", settings)
        runs = [_run_of(given, scenario, seed, folder, template) for scenario, seed in _planned(given)]
        return all_of(runs, given, report_of)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/hosts", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="*", help="which scenarios (default: all of them)")
    parser.add_argument("--mixture", action="store_true", help="seeded sequences of faults in place of scenarios")
    add_arguments(parser, "runs of each scenario")
    parser.add_argument("--stock", action="store_true", help="bare `rq worker`s in place of the project's")
    parser.add_argument(
        "--as",
        choices=("units", "containers"),
        default="units",
        help="run the units of deploy/systemd, or what deploy/compose.yaml runs in the image (default: units)",
    )
    parser.add_argument("--autoscale", action="store_true", help="`manage.py autoscale` in place of fixed workers")
    parser.add_argument("--short", action="store_true", help="a shorter crawl")
    given = parsed(parser, words)
    if unknown := [name for name in given.scenario if name not in SCENARIOS]:
        parser.error(f"there is no scenario {unknown[0]!r}; there are: {', '.join(SCENARIOS)}")
    if given.mixture and given.scenario:
        parser.error("--mixture draws its own faults: name no scenario beside it")
    if given.stock and (given.autoscale or _in_containers(given)):
        parser.error("--stock: autoscalers and containers run the project's own workers")
    return given


def _in_containers(given: argparse.Namespace) -> bool:
    return bool(vars(given)["as"] == "containers")


def _planned(given: argparse.Namespace) -> list[tuple[Scenario, int]]:
    seeds = range(given.seed, given.seed + given.runs)
    if given.mixture:
        chosen = [(mixture(seed, autoscaled=given.autoscale), seed) for seed in seeds]
    else:
        named = given.scenario or [name for name, each in SCENARIOS.items() if not (given.stock and each.is_autoscaled)]
        chosen = [(SCENARIOS[name], seed) for seed in seeds for name in named]
    changes = {"stock": given.stock, "autoscaled": given.autoscale, "containers": _in_containers(given)}
    return [(scenario.changed(**changes, short=given.short), seed) for scenario, seed in chosen]


def _run_of(given: argparse.Namespace, scenario: Scenario, seed: int, folder: Path, template: Path) -> Run[HostsResult]:
    own = folder / f"run-{scenario.name}-{seed}"
    again = repeated(f"bin/hosts {'--mixture' if given.mixture else scenario.name}", seed, given)

    def go() -> HostsResult:
        return HostsResult(scenario, seed, run(scenario, own, template, seed, lambda text: say(f"  {text}")))

    return Run(f"{scenario.name}, seed {seed}: {scenario.about}", own, again, go)


def run(scenario: Scenario, folder: Path, template: Path, seed: int, say: Say) -> HostsEvidence:
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
        return collect(scene, seconds)


def _await_rest(scene: HostsScene) -> None:
    """Until the notices have arrived and nothing of the crawls is left behind."""
    crawls = {str(crawl.id) for crawl in scene.crawls}
    scene.wait_for(lambda: crawls <= {told.crawl for site in scene.sites for told in site.received}, NOTICE_SECONDS)
    scene.wait_for(lambda: _nothing_left(scene), REST_SECONDS)
    scene.rest(SECOND_NOTICE_SECONDS)


def _time_end_of_workers(scene: HostsScene) -> None:
    """How long it takes until those are gone that nobody needs any more."""
    if scene.setting.autoscaled:
        began = time.monotonic()
        scene.wait_for(lambda: not scene.samples[-1].running, GONE_SECONDS)
        scene.measured["gone"] = time.monotonic() - began


def _nothing_left(scene: HostsScene) -> bool:
    left = [key for crawl in scene.crawls for key in left_in_redis(scene.redis, crawl.id)]
    return not left and not left_in_queues(scene.redis, without_power=True)
