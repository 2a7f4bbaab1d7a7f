"""Knows what can be measured: this project in its varieties and its peers, and how each crawls a site once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ours
from benchmarks.figures import OURS, Run
from benchmarks.ours import Failed, Worker
from benchmarks.sites import Served
from settings.environment import ROOT

POSTGRESQL, STOCK = "ours-postgresql", "ours-stock"
TITLES: Mapping[str, str] = {
    OURS: "Site Crawler",
    POSTGRESQL: "Site Crawler, PostgreSQL",
    STOCK: "Site Crawler, stock workers",
    "scrapy": "Scrapy",
    "crawlee": "Crawlee (Parsel)",
    "wget": "wget -r",
}
PEERS = {"scrapy": "benchmarks.peers.scrapy_crawl", "crawlee": "benchmarks.peers.crawlee_crawl"}
WGET_ENDS = (0, 8)  # 8: a server answered with an error, as it does for each broken link


@dataclass(frozen=True)
class Terms:
    """The same for all tools."""

    python: Path
    concurrency: int
    workers: int
    timeout: float  # seconds a crawl may take
    work: Path
    postgresql: str | None = None  # the address of an empty database


@dataclass(frozen=True)
class Tool:
    name: str
    crawl: Callable[[Served, Terms, Path, int], Run]
    """One crawl, in a folder of its own, in this round. Raises Failed."""


def options_of(terms: Terms) -> dict[str, object]:
    """Ours: as it comes, without a delay and without robots.txt, as the peers are."""
    return {"delay": 0.0, "concurrency": terms.concurrency, "obey_robots": False}


def own(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """Once with the workers up, and once from nothing as `bin/crawl` does it, for the time of the whole process."""
    found = _crawled(OURS, Worker.OWN, None, site, terms, folder, number)
    words = ["--delay", "0", "--concurrency", str(terms.concurrency), "--ignore-robots"]
    words += ["--workers", str(terms.workers)]
    again = ours.with_tables(terms.work / "template", folder / "whole", terms.python)
    process_seconds = ours.whole(site.url, words, again, terms.python, terms.timeout)
    return Run(site.name, OURS, number, found.seconds, found.pages, found.links, process_seconds)


def own_on_postgresql(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _crawled(POSTGRESQL, Worker.OWN, terms.postgresql, site, terms, folder, number)


def stock(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _crawled(STOCK, Worker.STOCK, None, site, terms, folder, number)


def scrapy(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _peer("scrapy", site, terms, folder, number)


def crawlee(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _peer("crawlee", site, terms, folder, number)


def wget(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """It keeps the files, and no links. Its process is so small that its start counts for nothing."""
    target = folder / "files"
    command = ["wget", "-r", "-l", "inf", "-nv", "-nH", "-e", "robots=off", "-P", str(target), site.url]
    code, seconds = ours.run(command, folder / "wget.log", os.environ, terms.timeout)
    if code not in WGET_ENDS:
        raise Failed(ours.last_words(folder / "wget.log"))
    pages = sum(1 for file in target.rglob("*") if file.name.endswith((".html", ".htm")))
    return Run(site.name, "wget", number, seconds, pages, None, seconds)


ALL = (
    Tool(OURS, own),
    Tool(POSTGRESQL, own_on_postgresql),
    Tool(STOCK, stock),
    Tool("scrapy", scrapy),
    Tool("crawlee", crawlee),
    Tool("wget", wget),
)


def missing(name: str, can_import: Callable[[str], bool]) -> str | None:
    """Why a peer cannot be run on this machine; None = it can."""
    if name == "wget":
        return None if shutil.which("wget") else "there is no wget here"
    if name in PEERS and not can_import(name):
        return "it is not installed (requirements-bench.txt)"
    return None


def _crawled(
    name: str, worker: Worker, database_url: str | None, site: Served, terms: Terms, folder: Path, number: int
) -> Run:
    if database_url is None:
        ours.with_tables(terms.work / "template", folder, terms.python)
    given = {"urls": [site.url], "options": options_of(terms), "delete": database_url is not None}
    given["must_be_empty"] = True
    with ours.stack(folder, terms.python, workers=terms.workers, worker=worker, database_url=database_url) as stack:
        told = stack.crawl(given, terms.timeout)
    return Run(site.name, name, number, told["seconds"], told["pages"], told["links"])


def _peer(name: str, site: Served, terms: Terms, folder: Path, number: int) -> Run:
    log = folder / f"{name}.log"
    command = [
        str(terms.python),
        "-P",
        "-m",
        PEERS[name],
        site.url,
        str(terms.concurrency),
        str(folder / "pages.jsonl"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    code, process_seconds = ours.run(command, log, environment, terms.timeout)
    if code:
        raise Failed(ours.last_words(log))
    told = json.loads(ours.last_words(log))
    return Run(site.name, name, number, told["seconds"], told["pages"], told["links"], process_seconds)
