"""Crawls of sites that only a browser can read, with real workers and a real Chromium."""

from __future__ import annotations

import os
import signal
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.test_killed import kill_with_children
from tests.browser_sites.expected import BrowserSite
from tests.browser_sites.mixed import GUIDES, SHELLS, mixed
from tests.browser_sites.spa import spa
from tests.chaos.browser_processes import program_of
from tests.chaos.processes import children_of
from tests.site import Site
from tests.stack import Stack

BROWSER_WORKER = ("rq", "worker", "-w", "crawler.browser.worker.BrowserWorker", "render")
PATIENCE = 240.0


@pytest.fixture
def rendering(stack: Stack) -> Stack:
    """With a worker; browser workers are begun by the tests."""
    stack.start_worker()
    return stack


def paths(stack: Stack, crawl: object, site: Site) -> dict[str, str]:
    """Path of each page of the crawl -> why it was rendered."""
    rows = stack.pages(crawl)  # type: ignore[arg-type]
    return {url.removeprefix(site.url): row["rendering"] for url, row in rows.items()}


def assert_exact(stack: Stack, crawl: object, site: Site, known: BrowserSite, shells: int) -> None:
    receipt = stack.wait_until_finished(crawl, PATIENCE)  # type: ignore[arg-type]
    found = paths(stack, crawl, site)
    assert known.expected.keys() <= found.keys()
    assert {path for path, why in found.items() if why} == {
        path for path, page in known.expected.items() if page.is_shell
    }
    assert sum(receipt["rendered"].values()) == shells
    assert receipt["discovered"] == receipt["fetched"] == len(found)
    titles = {url.removeprefix(site.url): row["title"] for url, row in stack.pages(crawl).items()}  # type: ignore[arg-type]
    assert {path: titles[path] for path in known.expected} == {
        path: page.title for path, page in known.expected.items()
    }


def test_shells_are_rendered_and_lead_to_pages_nothing_else_leads_to(rendering: Stack) -> None:
    known = mixed()
    with Site(known.pages).serving() as site:
        rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", render="auto")
        assert_exact(rendering, crawl, site, known, SHELLS)
        assert len(rendering.pages(crawl)) == 1 + GUIDES + 2 * SHELLS
        requests = sum(site.hits.values())
    assert rendering.receipt(crawl)["requests"] == requests


@pytest.mark.long
def test_what_is_rendered_has_pictures_in_the_exports(rendering: Stack) -> None:
    known = mixed()
    with Site(known.pages).serving() as site:
        rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", render="auto", keep=("screenshot", "pdf"), screenshot_format="png")
        rendering.wait_until_finished(crawl, PATIENCE)
    for form, beginning in (("screenshot", b"\x89PNG\r\n"), ("pdf", b"%PDF-")):
        file = rendering.folder / f"export.{form}.zip"
        rendering.run("python", "manage.py", "export", str(crawl), "--format", f"{form}.zip", "--output", str(file))
        with zipfile.ZipFile(file) as archive:
            pictures = [archive.read(name) for name in archive.namelist() if name != "index.csv"]
        assert len(pictures) == SHELLS
        assert {picture[: len(beginning)] for picture in pictures} == {beginning}


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
    assert known.expected.keys() <= found.keys()
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
    assert known.expected.keys() <= found.keys()
    assert (receipt["failed"], receipt["fetched"]) == (0, len(found))


@pytest.mark.long
def test_a_worn_browser_worker_begins_anew_and_leaves_nothing(rendering: Stack) -> None:
    rendering.env["CRAWLER_BROWSER_PAGES"] = "8"
    known = spa(pages=30)
    with Site(known.pages).serving() as site:
        worker = rendering.spawn(*BROWSER_WORKER)
        crawl = rendering.start(f"{site.url}/", render="always")
        receipt = rendering.wait_until_finished(crawl, PATIENCE)
        assert known.expected.keys() <= paths(rendering, crawl, site).keys()
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
    assert known.expected.keys() <= found.keys()
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
