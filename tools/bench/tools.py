"""Knows what can be measured: this project in its varieties and its peers, and how each crawls a site once."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from crawler.settings.environment import ROOT
from tools.bench import ours
from tools.bench.figures import OURS, Cpu, Run
from tools.bench.ours import Failed, Worker
from tools.bench.peers import environment
from tools.bench.sites import Served

POSTGRESQL, STOCK = "ours-postgresql", "ours-stock"
PEERS = {"scrapy": "tools.bench.peers.scrapy_crawl", "crawlee": "tools.bench.peers.crawlee_crawl"}
WGET2_CONNECTIONS = 16  # or all that are asked for, if that is more: with few it is far slower than it can be
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
    postgresql_pid: int | None = None  # of its server, where that is our own
    root: Path = ROOT  # of the version of this project that is measured


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    stores: str  # of each page
    crawl: Callable[[Served, Terms, Path, int], Run]
    """One crawl, in a folder of its own, in this round. Raises Failed."""


def options_of(terms: Terms) -> dict[str, object]:
    """Ours: as it comes, without a delay and without robots.txt, as the peers are."""
    return {"delay": 0.0, "concurrency": terms.concurrency, "obey_robots": False}


def own(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """Once with the workers up, and once from nothing as `bin/crawl` does it, for the time of the whole process."""
    found = quick(site, terms, folder, number)
    words = ["--delay", "0", "--concurrency", str(terms.concurrency), "--ignore-robots"]
    words += ["--workers", str(terms.workers)]
    again = ours.with_tables(terms.work / "template", folder / "whole", terms.python)
    process_seconds = ours.whole(site.url, words, again, terms.python, terms.timeout)
    return replace(found, process_seconds=process_seconds)


def quick(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """With the workers up, and no more."""
    return _crawled(OURS, Worker.OWN, site, terms, folder, number)


def own_on_postgresql(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _crawled(POSTGRESQL, Worker.OWN, site, terms, folder, number)


def stock(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """One bare `rq worker crawl fetch`, however many workers of our own class the others have."""
    return _crawled(STOCK, Worker.STOCK, site, replace(terms, workers=1), folder, number)


def scrapy(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _peer("scrapy", site, terms, folder, number)


def crawlee(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    return _peer("crawlee", site, terms, folder, number)


def wget(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """It keeps the files, and no links. Its process is so small that its start counts for nothing."""
    return _files("wget", ["-e", "robots=off"], site, terms, folder, number)


def wget2(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """The same over many connections."""
    connections = max(WGET2_CONNECTIONS, terms.concurrency)
    return _files("wget2", ["--robots=off", f"--max-threads={connections}"], site, terms, folder, number)


def _files(name: str, words: list[str], site: Served, terms: Terms, folder: Path, number: int) -> Run:
    target, log = folder / "files", folder / f"{name}.log"
    command = [name, "-r", "-l", "inf", "-nv", "-nH", *words, "-P", str(target), site.url]
    ended = ours.run(command, log, os.environ, terms.timeout)
    if ended.code not in WGET_ENDS:
        raise Failed(ours.last_words(log))
    pages = sum(1 for file in target.rglob("*") if file.name.endswith((".html", ".htm")))
    return Run(site.name, name, number, ended.seconds, pages, None, ended.seconds, Cpu(ended.cpu_seconds))


def spider_rs(site: Served, terms: Terms, folder: Path, number: int) -> Run:
    """In Rust, loaded by Node.js. It keeps the addresses of pages, and no links between them."""
    return _told(
        "spider-rs", ["node", str(environment.SPIDER_SCRIPT), site.url], os.environ, site, terms, folder, number
    )


_ROWS = "row, links with their texts"

ALL = (
    Tool(OURS, "Site Crawler", _ROWS, own),
    Tool(POSTGRESQL, "Site Crawler, PostgreSQL", _ROWS, own_on_postgresql),
    Tool(STOCK, "Site Crawler, one stock worker", _ROWS, stock),
    Tool("scrapy", "Scrapy", "line of JSON with links", scrapy),
    Tool("crawlee", "Crawlee (Parsel)", "line of JSON with links", crawlee),
    Tool("wget", "wget -r", "file", wget),
    Tool("wget2", "wget2 -r", "file", wget2),
    Tool("spider-rs", "spider-rs", "address, in memory", spider_rs),
)
STORES: Mapping[str, str] = {tool.name: tool.stores for tool in ALL}
TITLES: Mapping[str, str] = {tool.name: tool.title for tool in ALL}


def missing(name: str, can_import: Callable[[str], bool]) -> str | None:
    """Why a peer cannot be run on this machine; None = it can."""
    if name in ("wget", "wget2"):
        return None if shutil.which(name) else f"there is no {name} here"
    if name == "spider-rs":
        return environment.why_no_spider()
    if name in PEERS and not can_import(name):
        return "it is not installed (requirements-bench.txt)"
    return None


def _crawled(name: str, worker: Worker, site: Served, terms: Terms, folder: Path, number: int) -> Run:
    is_postgresql = name == POSTGRESQL
    if not is_postgresql:
        ours.with_tables(terms.work / "template", folder, terms.python, terms.root)
    given = {"urls": [site.url], "options": options_of(terms), "delete": is_postgresql, "must_be_empty": True}
    with ours.stack(
        folder,
        terms.python,
        workers=terms.workers,
        worker=worker,
        database_url=terms.postgresql if is_postgresql else None,
        database_pid=terms.postgresql_pid if is_postgresql else None,
        root=terms.root,
    ) as stack:
        told = stack.crawl(given, terms.timeout)
    return Run(site.name, name, number, told["seconds"], told["pages"], told["links"], cpu=told["cpu"])


def _peer(name: str, site: Served, terms: Terms, folder: Path, number: int) -> Run:
    words = [site.url, str(terms.concurrency), str(folder / "pages.jsonl")]
    command = [str(terms.python), "-P", "-m", PEERS[name], *words]
    return _told(name, command, {**os.environ, "PYTHONPATH": str(ROOT)}, site, terms, folder, number)


def _told(
    name: str, command: list[str], environ: Mapping[str, str], site: Served, terms: Terms, folder: Path, number: int
) -> Run:
    """By a program whose last line says in JSON what it did."""
    log = folder / f"{name}.log"
    ended = ours.run(command, log, environ, terms.timeout)
    if ended.code:
        raise Failed(ours.last_words(log))
    told = json.loads(ours.last_words(log))
    cpu = Cpu(told["cpu_seconds"])
    return Run(site.name, name, number, told["seconds"], told["pages"], told["links"], ended.seconds, cpu)
