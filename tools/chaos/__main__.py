"""The command: crawl a site undisturbed, then again and again while everything is killed, and tell what came of it."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import django

from crawler.capabilities.browser import chromium
from crawler.capabilities.browser.chromium import NO_CHROMIUM, NO_PLAYWRIGHT
from crawler.core.protocol.collectors import MAX_COLLECTORS
from crawler.launch.process_group import adopts_orphans
from tests.browser_sites.spa import spa
from tests.hostile.server import Canary
from tools.chaos import site as sites
from tools.chaos.database import Volume
from tools.chaos.disturbances import KINDS
from tools.chaos.evidence import Evidence
from tools.chaos.expected import Expected, measured, of_members, used_as_queue, walked
from tools.chaos.members import MembersSite
from tools.chaos.processes import BROWSER_PLACES
from tools.chaos.report import Ran, Report
from tools.chaos.run import UNDISTURBED, UNDISTURBED_WITH_BROWSERS, UNDISTURBED_WITH_SCRAPY, Grounds, run
from tools.chaos.scene import prepare
from tools.chaos.schedule import Schedule, draw
from tools.chaos.shop import CANARY_ADDRESS, expected_of, shop
from tools.chaos.verdict import batch_pages, judge

PAGES = 400  # of the generated site
SHOP_PAGES = 200  # of the application; two browser workers render some two a second
SHOP_FINISH_SECONDS = 600.0  # after the last disturbance
SHOP_MOMENT_SECONDS = 60.0
LOG_LINES = 15  # of each process, shown when a run fails

Find = Callable[[Evidence], Expected]

_KINDS_OF_SITE = {(True, False): "an application", (False, True): "for members"}


def main() -> int:
    given = _arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _as_interrupt)
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    os.environ |= {"DJANGO_SETTINGS_MODULE": "settings.test", "CRAWLER_DATA_DIR": str(folder)}
    django.setup()
    mount = Volume.may_be_mounted(folder)
    try:
        if given.render:
            return _with_browsers(given, folder, mount)
        if given.login:
            return _with_login(given, folder, mount)
        if given.scrapy:
            adopts_orphans()  # so that a Scrapy whose worker was killed is seen
        made_up = sites.queued if given.queue else sites.generated
        content = sites.folder(given.docs) if given.docs else made_up(given.pages or PAGES)
        with sites.Site(content, given.latency / 1000).serving() as site:
            grounds = Grounds(folder, prepare(folder / "template"), site, mount)
            grounds = replace(grounds, acks_early=given.ack_early, is_queue=given.queue, runs_scrapy=given.scrapy)
            grounds = replace(grounds, collectors=given.collectors)
            find = partial(_expected, site, content, grounds)
            return _session(given, grounds, find)
    except KeyboardInterrupt:
        _say("interrupted; everything has ended")
        return 130
    finally:
        if not list(folder.glob("run-*")):
            shutil.rmtree(folder)


def _expected(site: sites.Site, content: sites.Content, grounds: Grounds, found: Evidence) -> Expected:
    if grounds.is_queue:
        return used_as_queue(site, content, found)
    return walked(site, content, found.lost if grounds.acks_early else ())


def _with_browsers(given: argparse.Namespace, folder: Path, mount: bool) -> int:
    adopts_orphans()  # so that a Chromium whose worker was killed is seen
    known, canary = spa(given.pages or SHOP_PAGES), Canary(CANARY_ADDRESS)
    try:
        with sites.Site(shop(known, canary.address), given.latency / 1000).serving() as site:
            template = prepare(folder / "template")
            grounds = Grounds(folder, template, site, mount, canary, SHOP_FINISH_SECONDS, SHOP_MOMENT_SECONDS)
            grounds = replace(grounds, places=given.places or BROWSER_PLACES, collectors=given.collectors)
            return _session(given, grounds, lambda found: expected_of(known, site))
    finally:
        canary.close()


def _with_login(given: argparse.Namespace, folder: Path, mount: bool) -> int:
    with MembersSite(given.pages or PAGES, given.latency / 1000).serving() as site:
        grounds = Grounds(folder, prepare(folder / "template"), site, mount, logs_in=True)
        return _session(given, grounds, lambda found: of_members(site))


def _arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="disturbed runs (default: 1)")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of the first run, the next have S+1, S+2, ...")
    parser.add_argument(
        "--docs", type=Path, metavar="FOLDER", help="crawl the files of this folder, not a made-up site"
    )
    parser.add_argument(
        "--latency", type=float, default=20, metavar="MS", help="milliseconds the site thinks (default: 20)"
    )
    parser.add_argument(
        "--ack-early", action="store_true", help="crawl with --ack early: pages of killed workers are lost, no others"
    )
    parser.add_argument(
        "--queue",
        action="store_true",
        help="with users who add pages, request some again and change options; and hooks",
    )
    parser.add_argument(
        "--collectors",
        type=int,
        choices=range(1, MAX_COLLECTORS + 1),
        default=1,
        metavar="N",
        help=f"let so many collectors, at most {MAX_COLLECTORS}, store the results of the crawl (default: 1)",
    )
    parser.add_argument("--scrapy", action="store_true", help="run the pages through Scrapy, with two workers for it")
    parser.add_argument(
        "--login", action="store_true", help="crawl a site for members, which ends all sessions at times"
    )
    parser.add_argument("--render", action="store_true", help="crawl an application whose pages Chromium has to render")
    parser.add_argument(
        "--places",
        type=int,
        metavar="N",
        help=f"with --render: pages that each of the two browser workers renders at a time (default: {BROWSER_PLACES})",
    )
    parser.add_argument(
        "--pages",
        type=int,
        metavar="N",
        help=f"of the made-up site (default: {PAGES} and some; with --render {SHOP_PAGES}, at least 20)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured to this file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")
    given = parser.parse_args(arguments)
    if given.docs and not given.docs.is_dir():
        parser.error(f"{given.docs} is not a folder")
    if given.pages is not None and (given.docs or given.pages < 20):
        parser.error("--pages is at least 20, and not for --docs")
    if given.render and (trouble := "it crawls a site of its own, not --docs" if given.docs else _why_no_browser()):
        parser.error(f"--render: {trouble}")
    if given.places is not None and not (given.render and 1 <= given.places <= 64):
        parser.error("--places is 1 to 64, and only for --render")
    for name in ("ack_early", "queue"):
        if getattr(given, name) and (given.docs or given.render):
            parser.error(
                f"--{name.replace('_', '-')} is for the made-up site, whose links are known; no --docs, --render"
            )
    if given.ack_early and given.queue:
        parser.error("--queue expects each page to have its outcome; leave out --ack-early")
    if given.scrapy and (given.render or find_spec("scrapy") is None):
        parser.error("--scrapy: it needs Scrapy (pip install -r requirements-scrapy.txt), and goes without --render")
    if given.login and (given.docs or given.render or given.queue or given.ack_early or given.scrapy):
        parser.error(
            "--login: it crawls a site of its own, by the engine of this project, and goes with none of the others"
        )
    if given.seed is None:
        given.seed = random.randrange(1_000_000)
    return given


def _why_no_browser() -> str:
    if sys.platform != "linux":
        return "it needs Linux, where processes that were left behind can be found"
    if find_spec("playwright") is None:
        return NO_PLAYWRIGHT
    return "" if chromium.installed(os.environ.get("CRAWLER_CHROMIUM", "")) else NO_CHROMIUM


def _session(given: argparse.Namespace, grounds: Grounds, find: Find) -> int:
    """`find`: what is expected of a crawl of the made-up site. Of others it is what the undisturbed crawl found."""
    calm_schedule = UNDISTURBED_WITH_BROWSERS if grounds.renders else UNDISTURBED
    calm_schedule = UNDISTURBED_WITH_SCRAPY if grounds.runs_scrapy else calm_schedule
    left_out = () if grounds.mount else tuple(kind.name for kind in KINDS.values() if kind.volume)
    if left_out:
        _say(f"left out, because no volume may be mounted here: {', '.join(left_out)}")
    if grounds.runs_scrapy:  # after them a worker is alone, which is none for Scrapy
        left_out += ("kill-everything-stock", "kill-everything-own")
    _say("crawling undisturbed")
    calm = _uninterrupted(grounds, calm_schedule, None)
    pages = batch_pages()
    named = str(given.docs or _KINDS_OF_SITE.get((grounds.renders, grounds.logs_in), "made up"))
    named += f", {grounds.collectors} collectors" if grounds.collectors > 1 else ""
    expected = measured(calm) if given.docs else find(calm)
    if faults := judge(calm, expected, pages).faults:
        _explain(grounds, calm_schedule, calm, faults, given)
        return 1
    _forget(grounds, calm_schedule)
    _say(f"{len(calm.pages)} pages, {sum(calm.hits.values())} requests, {calm.seconds:.1f} s")
    ran: list[Ran] = []
    try:
        for number in range(given.runs):
            ran.append(_one(given, grounds, expected, None if given.docs else find, pages, number, left_out))
    finally:
        report = Report(
            named, calm, ran, left_out, grounds.renders, grounds.acks_early, grounds.is_queue, grounds.logs_in
        )
        _write(given, report)
        print(report.text())
    return 0 if report.exact and report.in_time else 1


def _one(
    given: argparse.Namespace,
    grounds: Grounds,
    expected: Expected,
    find: Find | None,
    pages: int,
    number: int,
    left_out: tuple[str, ...],
) -> Ran:
    schedule = draw(
        given.seed + number,
        left_out,
        rendered=grounds.renders,
        queue=grounds.is_queue,
        login=grounds.logs_in,
        more=grounds.more,
    )
    _say(f"run {number + 1}/{given.runs}: {schedule}")
    evidence = _uninterrupted(grounds, schedule, len(expected.hits))
    verdict = judge(evidence, find(evidence) if find else expected, pages)
    ran = Ran(schedule, evidence, verdict)
    lost = f", {len(evidence.lost)} pages lost with their workers" if grounds.acks_early else ""
    _say(
        f"  {evidence.seconds:.0f} s{lost}, {ran.refetched_share:.1%} fetched again{_times(evidence)}: "
        f"{'exact' if not verdict.faults else 'NOT EXACT'}{', LATE' if ran.late else ''}"
    )
    if wrong := [*verdict.faults, *ran.late]:
        _explain(grounds, schedule, evidence, wrong, given)
    else:
        _forget(grounds, schedule)
    return ran


def _uninterrupted(grounds: Grounds, schedule: Schedule, expected: int | None) -> Evidence:
    """A run; one that is interrupted leaves nothing behind, for it proves nothing."""
    try:
        return run(grounds, schedule, expected, lambda text: _say(f"  {text}"))
    except KeyboardInterrupt:
        _forget(grounds, schedule)
        raise


def _times(evidence: Evidence) -> str:
    named = [("refetch", evidence.refetches), ("revival", evidence.revivals)]
    told = [f", {name} {max(seconds):.1f} s" for name, seconds in named if seconds]
    announced = "" if evidence.announced is None else f", announced in {evidence.announced:.2f} s"
    return "".join(told) + announced


def _explain(
    grounds: Grounds, schedule: Schedule, evidence: Evidence, faults: list[str], given: argparse.Namespace
) -> None:
    folder = grounds.folder / f"run-{schedule.seed}"
    for fault in faults[:20]:
        _say(f"  FAULT {fault}")
    for struck in evidence.struck:
        _say(f"  {struck.at:.3f} {struck.kind}: {struck.what}")
    for log in sorted(folder.glob("*.log")):
        _say(f"  --- {log.name}")
        for line in log.read_text(errors="replace").splitlines()[-LOG_LINES:]:
            _say(f"  {line}")
    site = f" --docs {given.docs}" if given.docs else " --render" if given.render else " --login" if given.login else ""
    pages = f" --pages {given.pages}" if given.pages else ""
    pages += f" --places {given.places}" if given.places else ""
    early = " --ack-early" if given.ack_early else " --queue" if given.queue else ""
    early += " --scrapy" if given.scrapy else ""
    early += f" --collectors {given.collectors}" if given.collectors > 1 else ""
    again = f"bin/chaos --runs 1 --seed {schedule.seed} --latency {given.latency:g}{site}{pages}{early}"
    _say(f"  kept: {folder}; once more: {again}")


def _forget(grounds: Grounds, schedule: Schedule) -> None:
    shutil.rmtree(grounds.folder / f"run-{schedule.seed}")


def _write(given: argparse.Namespace, report: Report) -> None:
    written: list[tuple[Path | None, Callable[[], str]]] = [
        (given.json, lambda: json.dumps(report.plain(), indent=1)),
        (given.markdown, report.markdown),
    ]
    for file, content in written:
        if file is not None:
            file.write_text(content())


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
