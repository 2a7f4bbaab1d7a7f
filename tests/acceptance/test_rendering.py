"""Crawls of sites that only a browser can read, with real workers and a real Chromium."""

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_killed import kill_with_children
from tests.browser_sites.behaviours import FRAME, LAZY, behaviours
from tests.browser_sites.endless import MEMORY, endless
from tests.browser_sites.expected import BrowserSite
from tests.browser_sites.mixed import GUIDES, SHELLS, mixed
from tests.browser_sites.spa import spa
from tests.site import Site, page
from tests.stack import Stack
from tools.chaos.processes import children_of, program_of

BROWSER_WORKER = ("rq", "worker", "-w", "crawler.browser.worker.BrowserWorker", "render")
PATIENCE = 240.0
PATIENCE_A_SHELL = 4.0
ATTEMPTS = 3  # CRAWLER_MAX_ATTEMPTS
AUTO = {"render": "auto", "render_timeout": 60.0}  # a page takes one second, and many where the machine is busy


@pytest.fixture
def rendering(stack: Stack) -> Stack:
    """With a worker; browser workers are begun by the tests."""
    stack.start_worker()
    return stack


def paths(stack: Stack, crawl: object, site: Site) -> dict[str, str]:
    """Path of each page of the crawl -> why it was rendered."""
    rows = stack.pages(crawl)  # type: ignore[arg-type]
    return {url.removeprefix(site.url): row["rendering"] for url, row in rows.items()}


def assert_exact(stack: Stack, crawl: object, site: Site, known: BrowserSite, **options: bool) -> dict[str, Any]:
    """The pages of the table and no other, rendered if they are shells and with the titles that scripts gave them."""
    patience = PATIENCE + PATIENCE_A_SHELL * len(known.shells)
    receipt = stack.wait_until_finished(crawl, patience)  # type: ignore[arg-type]
    rows = {url.removeprefix(site.url): row for url, row in stack.pages(crawl).items()}  # type: ignore[arg-type]
    assert rows.keys() == known.reachable(**options)
    assert {path for path, row in rows.items() if row["rendering"]} == known.shells
    assert sum(receipt["rendered"].values()) == len(known.shells)
    assert receipt["discovered"] == receipt["fetched"] == len(rows)
    assert {path: rows[path]["title"] for path in known.expected} == {
        path: "" if path in known.shells and page.redirect_to else page.title for path, page in known.expected.items()
    }
    assert {path: rows[path]["redirect_to"].removeprefix(site.url) for path in known.shells} == {
        path: known.expected[path].redirect_to for path in known.shells
    }
    return receipt


def assert_once(site: Site, known: BrowserSite, loaded: Iterable[str] = (), **options: bool) -> None:
    """Each page was requested once, and a shell once more by the browser worker that rendered it. `loaded`: what pages
    load that are pages as well."""
    requested = Counter(known.reachable(**options)) + Counter(known.shells) + Counter(loaded)
    assert {path: times for path, times in site.hits.items() if path in requested} == requested


@pytest.mark.long
def test_shells_are_rendered_and_lead_to_pages_nothing_else_leads_to(rendering: Stack) -> None:
    known = mixed()
    with Site(known.pages).serving() as site:
        rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", **AUTO)
        assert_exact(rendering, crawl, site, known)
        assert len(rendering.pages(crawl)) == 1 + GUIDES + 2 * SHELLS
        assert_once(site, known)
        requests = sum(site.hits.values())
    assert rendering.receipt(crawl)["requests"] == requests


@pytest.mark.long
@pytest.mark.parametrize(("framework", "pages"), [("react", 200), ("vue", 60), ("svelte", 60)])
def test_each_page_of_an_application_is_found_and_rendered_once(rendering: Stack, framework: str, pages: int) -> None:
    known = spa(pages, framework)
    with Site(known.pages).serving() as site:
        rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", **AUTO)
        receipt = assert_exact(rendering, crawl, site, known)
        assert_once(site, known)
    assert (receipt["discovered"], receipt["failed"], receipt["retries"]) == (pages + 1, 0, 0)  # one is a 404


@pytest.mark.long
@pytest.mark.parametrize("clock", ["wall", "virtual"])
@pytest.mark.parametrize("scrolls", [True, False])
def test_each_way_to_write_links_late_leads_to_what_its_table_says(stack: Stack, scrolls: bool, clock: str) -> None:
    stack.env["CRAWLER_BROWSER_CLOCK"] = clock
    known = behaviours()
    with Site(known.pages).serving() as site:
        stack.start_worker()
        stack.spawn(*BROWSER_WORKER)
        crawl = stack.start(f"{site.url}/", **AUTO, scroll=scrolls)
        receipt = assert_exact(stack, crawl, site, known, scrolls=scrolls)
        assert_once(site, known, FRAME.expected.links, scrolls=scrolls)
    assert (receipt["failed"], receipt["retries"]) == (0, 0)
    measured = stack.rows("SELECT page_id FROM crawler_pageload WHERE lcp_ms IS NOT NULL")
    assert bool(measured) is (clock == "wall")  # vitals are not told where the time is virtual


@pytest.mark.long
def test_a_page_that_takes_memory_is_tried_again_and_closes_as_crashed(rendering: Stack) -> None:
    """At every attempt its process ends; the pages beside it are read."""
    known, beside = endless(), behaviours()
    pages = {**known.pages, **beside.pages, "/": page(MEMORY.path, LAZY.path)}
    with Site(pages).serving() as site:
        rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", **AUTO)
        receipt = rendering.wait_until_finished(crawl, PATIENCE)
        rows = {url.removeprefix(site.url): row for url, row in rendering.pages(crawl).items()}
        assert rows.keys() == {"/", MEMORY.path, LAZY.path, *LAZY.expected.links}
        assert site.hits[MEMORY.path] == 1 + ATTEMPTS  # the first one told that it is a shell
    crashed = rows.pop(MEMORY.path)
    assert (crashed["outcome"], crashed["attempts"]) == ("crashed", ATTEMPTS)
    assert crashed["error"] == "the browser crashed on this page"
    assert {row["outcome"] for row in rows.values()} == {"2xx"}
    assert (receipt["failed"], receipt["retries"]) == (1, ATTEMPTS - 1)


@pytest.mark.long
def test_a_crawl_waits_for_a_browser_worker_and_survives_the_death_of_one(rendering: Stack) -> None:
    known = spa(pages=60)
    with Site(known.pages).serving() as site:
        crawl = rendering.start(f"{site.url}/", render="auto")
        rendering.wait_for(lambda: any(paths(rendering, crawl, site).values()))
        first = rendering.spawn(*BROWSER_WORKER)
        rendering.wait_for(lambda: len(rendering.pages(crawl)) > 20, PATIENCE)
        kill_with_children(first.pid)
        rendering.spawn(*BROWSER_WORKER)
        receipt = rendering.wait_until_finished(crawl, PATIENCE)
        found = paths(rendering, crawl, site)
    assert found.keys() == known.reachable()
    assert (receipt["failed"], receipt["fetched"]) == (0, len(found))


@pytest.mark.long
def test_a_killed_chromium_costs_no_page(rendering: Stack) -> None:
    known = spa(pages=60)
    with Site(known.pages).serving() as site:
        worker = rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", render="always")
        rendering.wait_for(lambda: len(rendering.pages(crawl)) > 20, PATIENCE)
        os.kill(chromium_of(worker), signal.SIGKILL)
        receipt = rendering.wait_until_finished(crawl, PATIENCE)
        found = paths(rendering, crawl, site)
    assert found.keys() == known.reachable()
    assert (receipt["failed"], receipt["fetched"]) == (0, len(found))


@pytest.mark.long
def test_a_worn_browser_worker_begins_anew_and_leaves_nothing(rendering: Stack) -> None:
    rendering.env["CRAWLER_BROWSER_PAGES"] = "8"
    known = spa(pages=30)
    with Site(known.pages).serving() as site:
        worker = rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", render="always")
        receipt = rendering.wait_until_finished(crawl, PATIENCE)
        assert paths(rendering, crawl, site).keys() == known.reachable()
        assert max(times for path, times in site.hits.items() if path in known.expected) == 1
    assert (receipt["failed"], receipt["retries"]) == (0, 0)
    assert worker.poll() is None
    assert rendering.log().count("Listening on render") > 2
    assert len([child for child in children_of(worker.pid) if "run-driver" in program_of(child)]) <= 1
    assert [child for child in children_of(worker.pid) if not program_of(child)] == []  # none waits to be reaped


@pytest.mark.long
def test_a_stock_worker_of_all_queues_does_it_alone(stack: Stack) -> None:
    known = spa(pages=12)
    with Site(known.pages).serving() as site:
        stack.spawn("rq", "worker", "crawl", "fetch", "render")
        crawl = stack.start(f"{site.url}/", render="auto")
        receipt = stack.wait_until_finished(crawl, PATIENCE)
        found = paths(stack, crawl, site)
    assert found.keys() == known.reachable()
    assert (receipt["failed"], receipt["fetched"]) == (0, len(found))


def chromium_of(worker: subprocess.Popen[bytes]) -> int:
    """The main process of its browser."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _is_chromium(folder) and worker.pid in _ancestors(int(folder.name)):
            return int(folder.name)
    raise AssertionError("no Chromium runs")


def _is_chromium(folder: Path) -> bool:
    try:
        line = (folder / "cmdline").read_bytes()
    except OSError:
        return False
    return b"chrom" in line.split(b"\0")[0] and b"--type=" not in line and b"--headless" in line


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        try:
            pid = int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return
