"""Crawl a site undisturbed, then again and again while everything is killed, and tell what came of it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import django

from crawler.capabilities.browser import chromium
from crawler.capabilities.browser.chromium import NO_CHROMIUM
from crawler.core.protocol.collectors import MAX_COLLECTORS
from crawler.extras import BROWSER, SCRAPY
from tests.browser_sites.spa import spa
from tests.hostile.server import Canary
from tools.chaos import site as sites
from tools.chaos.one_machine.crew import BROWSER_PLACES, Role
from tools.chaos.one_machine.database import Volume
from tools.chaos.one_machine.disturbances import KINDS, VOLUME, MachineSchedule, draw
from tools.chaos.one_machine.evidence import MachineEvidence
from tools.chaos.one_machine.queue_use import used_as_queue
from tools.chaos.one_machine.report import MachineResult, report_of
from tools.chaos.one_machine.run import run
from tools.chaos.one_machine.scene import Grounds, prepare
from tools.chaos.one_machine.sites import CANARY_ADDRESS, MembersSite, expected_of, of_members, shop
from tools.chaos.one_machine.verdict import batch_pages
from tools.chaos.session import Run, add_arguments, all_of, done, parsed, repeated, say, work_folder
from tools.chaos.verdict import Expected, measured, walked
from tools.subreaper import adopts_orphans

PAGES = 400  # of the generated site
SHOP_PAGES = 200  # of the application; two browser workers render some two a second
SHOP_FINISH_SECONDS = 600.0  # after the last disturbance
SHOP_MOMENT_SECONDS = 60.0

Find = Callable[[MachineEvidence], Expected]
"""What is expected of a crawl of the made-up site."""


def main(words: Sequence[str]) -> int:
    given = arguments(words)
    with work_folder("chaos") as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "crawler.settings.test", "CRAWLER_DATA_DIR": str(folder)}
        django.setup()
        if given.render or given.scrapy:
            adopts_orphans()  # so that a Chromium or a Scrapy whose worker was killed is seen
        with _grounds(given, folder) as (grounds, find):
            return _session(given, grounds, find)


@contextmanager
def _grounds(given: argparse.Namespace, folder: Path) -> Iterator[tuple[Grounds, Find | None]]:
    """Without `Find`, the undisturbed crawl decides what is expected."""
    latency, number, find = given.latency / 1000, given.pages or PAGES, None
    with ExitStack() as ends:
        canary: Canary | None = None
        site: sites.Site
        if given.render:
            known, canary = spa(given.pages or SHOP_PAGES), Canary(CANARY_ADDRESS)
            ends.callback(canary.close)
            site = sites.Site(shop(known, canary.address), latency)
            find = lambda found: expected_of(known, site)  # noqa: E731
        elif given.login:
            site = members = MembersSite(number, latency)
            find = lambda found: of_members(members)  # noqa: E731
        elif given.docs:
            site = sites.Site(sites.folder(given.docs), latency)
        else:
            content = (sites.queued if given.queue else sites.generated)(number)
            site = sites.Site(content, latency)
            if given.queue:
                find = lambda found: used_as_queue(site, content, found)  # noqa: E731
            else:
                find = lambda found: walked(site, content, found.lost if given.ack_early else ())  # noqa: E731
        ends.enter_context(site.serving())
        grounds = Grounds(
            folder=folder,
            template=prepare(folder / "template"),
            site=site,
            mount=Volume.may_be_mounted(folder),
            canary=canary,
            acks_early=given.ack_early,
            is_queue=given.queue,
            runs_scrapy=given.scrapy,
            logs_in=given.login,
            places=given.places or BROWSER_PLACES,
            collectors=given.collectors,
        )
        if given.render:
            grounds = replace(grounds, finish_seconds=SHOP_FINISH_SECONDS, moment_seconds=SHOP_MOMENT_SECONDS)
        yield grounds, find


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/chaos", description=__doc__)
    add_arguments(parser, "disturbed runs")
    add = parser.add_argument
    add("--docs", type=Path, metavar="FOLDER", help="crawl the files of this folder, not a made-up site")
    add("--latency", type=float, default=20, metavar="MS", help="milliseconds the site thinks (default: 20)")
    early = "crawl with --ack early: pages of killed workers are lost, no others"
    add("--ack-early", action="store_true", help=early)
    queue = "with users who add pages, request some again and change options; and hooks"
    add("--queue", action="store_true", help=queue)
    most = f"let so many collectors, at most {MAX_COLLECTORS}, store the results of the crawl (default: 1)"
    add("--collectors", type=int, choices=range(1, MAX_COLLECTORS + 1), default=1, metavar="N", help=most)
    add("--scrapy", action="store_true", help="run the pages through Scrapy, with two workers for it")
    add("--login", action="store_true", help="crawl a site for members, which ends all sessions at times")
    add("--render", action="store_true", help="crawl an application whose pages Chromium has to render")
    places = "with --render: pages that each of the two browser workers renders at a time"
    add("--places", type=int, metavar="N", help=f"{places} (default: {BROWSER_PLACES})")
    pages = f"of the made-up site (default: {PAGES} and some; with --render {SHOP_PAGES}, at least 20)"
    add("--pages", type=int, metavar="N", help=pages)
    given = parsed(parser, words)
    if wrong := next(_wrong(given), ""):
        parser.error(wrong)
    return given


def _wrong(given: argparse.Namespace) -> Iterator[str]:
    """What is wrong with these options."""
    if given.docs and not given.docs.is_dir():
        yield f"{given.docs} is not a folder"
    if given.pages is not None and (given.docs or given.pages < 20):
        yield "--pages is at least 20, and not for --docs"
    if given.render and (trouble := "it crawls a site of its own, not --docs" if given.docs else _why_no_browser()):
        yield f"--render: {trouble}"
    if given.places is not None and not (given.render and 1 <= given.places <= 64):
        yield "--places is 1 to 64, and only for --render"
    for option, is_given in (("--ack-early", given.ack_early), ("--queue", given.queue)):
        if is_given and (given.docs or given.render):
            yield f"{option} is for the made-up site, whose links are known; no --docs, --render"
    if given.ack_early and given.queue:
        yield "--queue expects each page to have its outcome; leave out --ack-early"
    if given.scrapy and (trouble := "it goes without --render" if given.render else SCRAPY.missing):
        yield f"--scrapy: {trouble}"
    if given.login and (given.docs or given.render or given.queue or given.ack_early or given.scrapy):
        yield "--login: it crawls a site of its own, by the engine of this project, and goes with none of the others"


def _why_no_browser() -> str:
    if sys.platform != "linux":
        return "it needs Linux, where processes that were left behind can be found"
    if BROWSER.missing:
        return BROWSER.missing
    return "" if chromium.installed(os.environ.get("CRAWLER_CHROMIUM", "")) else NO_CHROMIUM


def _session(given: argparse.Namespace, grounds: Grounds, find: Find | None) -> int:
    left_out = () if grounds.mount else tuple(kind.name for kind in KINDS.values() if VOLUME in kind.needs)
    if left_out:
        say(f"left out, because no volume may be mounted here: {', '.join(left_out)}")
    if grounds.runs_scrapy:  # after them a worker is alone, which is none for Scrapy
        left_out += ("kill-everything-stock", "kill-everything-own")
    pages = batch_pages()

    def run_of(schedule: MachineSchedule, calm: MachineResult | None = None) -> Run[MachineResult]:
        def go() -> MachineResult:
            number = len(calm.expected.hits) if calm else None
            found = run(grounds, schedule, number, lambda text: say(f"  {text}"))
            expected = find(found) if find else calm.expected if calm else measured(found)
            return MachineResult(schedule, found, expected, pages)

        again = repeated("bin/chaos", schedule.seed, given)
        return Run(str(schedule), grounds.folder / f"run-{schedule.seed}", again, go)

    say("crawling undisturbed")
    calm = done(run_of(MachineSchedule(0, crew=_calm_crew(grounds))))
    if calm.verdict.faults:
        return 1
    schedules = [draw(given.seed + number, grounds, left_out) for number in range(given.runs)]
    kind = "an application" if grounds.renders else "for members" if grounds.logs_in else "made up"
    named = str(given.docs or kind) + (f", {grounds.collectors} collectors" if grounds.collectors > 1 else "")
    return all_of(
        [run_of(schedule, calm) for schedule in schedules],
        given,
        lambda results: report_of(named, calm, results, left_out, grounds),
    )


def _calm_crew(grounds: Grounds) -> tuple[Role, ...]:
    if grounds.renders:
        return (Role.OWN, Role.BROWSER, Role.BROWSER)
    return (Role.STOCK, *((Role.OWN, *grounds.more) if grounds.runs_scrapy else (Role.STOCK, Role.OWN)))
