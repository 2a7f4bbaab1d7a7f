"""All hosts of one run, the crawls they work on, and the state of both while they run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import redis

from crawler.frontier.frontier import Frontier
from crawler.launch.process_group import Children
from tests.stack import ROOT
from tools.chaos.hosts.containers import containers_of
from tools.chaos.hosts.host import Host
from tools.chaos.hosts.network import SITES, Network
from tools.chaos.hosts.services import PostgreSQL, Redis, copy_database, environment_of
from tools.chaos.hosts.site import HostSite
from tools.chaos.hosts.units import units_of
from tools.chaos.hosts.workers import Sample, running, sampled
from tools.chaos.scene import Say, Scene
from tools.chaos.site import generated
from tools.chaos.verdict import Expected, walked

WORKERS = 4  # hosts with workers
CONNECTIONS = 2  # of a worker that an autoscaler runs: so the crawls, with eight in all, want four workers
LOWER_AFTER_SECONDS = 20  # in place of two minutes, so that workers also go while a crawl runs
DATABASE, REDIS, WEB, FIRST_WORKER = 1, 2, 3, 10  # numbers of hosts
START_SECONDS = 120.0  # workers have to begin


@dataclass(frozen=True)
class Setting:
    """What a run begins with."""

    pages: int = 500  # of each site, and some more of other kinds
    latency: float = 0.35  # seconds the sites think, more or less
    sites: int = 2  # 1: both crawls are of the same site
    options: Mapping[str, Any] = field(default_factory=dict)
    skews: tuple[float, ...] = ()  # seconds the clock of the first, second ... worker host is ahead
    stock: bool = False  # RQ's own workers in place of the project's
    containers: bool = False  # what the image runs in place of the units
    autoscaled: bool = False  # from 0 to MOST workers on each worker host, as many as are useful; else one
    seconds: float = 240.0  # after which a crawl that is not finished is stuck


@dataclass(frozen=True)
class Running:
    """A crawl that was started."""

    id: UUID
    site: HostSite
    expected: Expected
    began: float  # epoch seconds


@dataclass(kw_only=True)
class HostsScene(Scene):
    setting: Setting
    postgresql: PostgreSQL
    redis: Redis
    workers: list[Host]
    web: Host
    services: Mapping[str, Host]  # "PostgreSQL" and "Redis"
    sites: Sequence[HostSite]
    crawls: list[Running] = field(default_factory=list)
    deadline: float = 0.0  # monotonic seconds
    measured: dict[str, float] = field(default_factory=dict)  # what a scenario timed, in seconds
    samples: list[Sample] = field(default_factory=list)

    def start_crawls(self) -> None:
        """Two, at once."""
        self.deadline = time.monotonic() + self.setting.seconds
        self.samples.clear()
        targets = [self.sites[number % len(self.sites)] for number in range(2)]
        wanted = [(f"{site.origin}/", {**self.setting.options, "notify_webhooks": [site.hook]}) for site in targets]
        began = time.time()
        ids = json.loads(self.on_web("-m", "tools.chaos.hosts.begin", json.dumps(wanted)))
        content = generated(self.setting.pages)
        self.crawls = [
            Running(UUID(crawl), site, walked(site, content), began) for crawl, site in zip(ids, targets, strict=True)
        ]

    def on_web(self, *arguments: str) -> str:
        """Run Python on the host of the web pages, with its settings; what it prints."""
        values = environment_of(self.postgresql.url, self.redis.url, self.folder / "web-data")
        variables = {**os.environ, **values, "PYTHONPATH": str(ROOT)}
        command = ["nsenter", f"--net=/proc/{self.web.pid}/ns/net", sys.executable, "-P", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{arguments} failed:\n{done.stderr}")
        return done.stdout

    @property
    def share(self) -> float:
        """How much was answered of the site of which least was."""
        return min((len(crawl.site.done) / len(crawl.expected.hits) for crawl in self.crawls), default=0.0)

    def is_over(self) -> bool:
        rows = self.postgresql.rows("SELECT state FROM crawler_crawl")
        return bool(rows) and all(row["state"] != "running" for row in rows)

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() > self.deadline

    def await_share(self, share: float) -> None:
        """Until so much of every site was answered, all is over, or there is no time left."""
        self.wait_for(lambda: self.share >= share or self.out_of_time or self.over, self.setting.seconds)

    def await_progress(self, since: float, seconds: float) -> bool:
        """Until every crawl that runs has closed a page after this moment, in epoch seconds."""
        query = """SELECT count(*) AS waiting FROM crawler_crawl c WHERE state = 'running' AND NOT EXISTS
            (SELECT FROM chaos_page p WHERE p.crawl = c.id AND p.at > ?)"""

        def moved() -> bool:
            found = self.postgresql.rows(query, since)
            return bool(found) and found[0]["waiting"] == 0

        return self.wait_for(lambda: moved() or self.out_of_time, seconds)

    def alive(self) -> list[Host]:
        """The worker hosts that have power and are connected."""
        return [host for host in self.workers if host.has_power and not host.is_cut]

    def busy(self) -> list[Host]:
        """Those of them on which a worker runs."""
        workers = running([host.pid for host in self.workers if host.has_power])
        return [host for host in self.alive() if workers[host.pid]]

    def holds_lease(self, host: Host) -> bool:
        """Whether a worker of this host has claimed pages of any crawl."""
        try:
            frontiers = [Frontier(self.redis.client, str(crawl.id)) for crawl in self.crawls]
            leases = [lease for frontier in frontiers for lease, _ in frontier.leases.all()]
        except redis.RedisError:
            return True
        return any(lease.held and lease.holder.rpartition(":")[0] == host.name for lease in leases)


@contextmanager
def set_up(folder: Path, template: Path, setting: Setting, dice: Random, say: Say) -> Iterator[HostsScene]:
    """Fresh hosts and services, all at work. Afterwards nothing of them runs; the folder is left."""
    folder.mkdir(mode=0o755)
    copy_database(template, folder)
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, folder / "postgresql", ignore_errors=True)  # large, and of no use afterwards
        children = ends.enter_context(Children(grace=2.0))
        network = Network(children, folder)
        numbered = {"database": DATABASE, "redis": REDIS}
        hosts = {name: Host(network, name, number, folder) for name, number in numbered.items()}
        sites_host = Host(network, "sites", SITES, folder, more=range(SITES + 1, SITES + 10))
        for host in (*hosts.values(), sites_host):
            host.power_on()
        postgresql = PostgreSQL(children, folder, hosts["database"])
        server = Redis(children, folder, folder / "redis.log", hosts["redis"])
        postgresql.start()
        server.start()
        ends.callback(server.client.close)

        def host_of(name: str, number: int, services: Sequence[str], skew: float = 0.0) -> Host:
            data = folder / f"{name}-data"
            data.mkdir()
            values = environment_of(postgresql.url, server.url, data)
            if setting.autoscaled:
                values["CRAWLER_WORKER_CONNECTIONS"] = str(CONNECTIONS)
                values["CRAWLER_WORKER_IDLE_SECONDS"] = str(LOWER_AFTER_SECONDS)
            if not setting.containers:
                return Host(network, name, number, folder, units_of(name, services, values, data, folder), skew)
            root, secrets = folder / name / "root", folder / f"{name}-secrets"
            units = containers_of(services, values, root, secrets)
            return Host(network, name, number, folder, units, skew, root=(root, data, secrets))

        web = host_of("web", WEB, ["web", "clock"])
        worker = "autoscale" if setting.autoscaled else "stock-worker@" if setting.stock else "worker@"
        skews = [*setting.skews, *([0.0] * WORKERS)][:WORKERS]
        workers = [host_of(f"worker-{n + 1}", FIRST_WORKER + n, [worker], skew) for n, skew in enumerate(skews)]
        for host in (web, *workers):
            host.power_on()
        content = generated(setting.pages)
        sites = [HostSite(sites_host, SITES + n, content, setting.latency) for n in range(setting.sites)]
        for site in sites:
            ends.enter_context(site.serving())
        services = {"PostgreSQL": hosts["database"], "Redis": hosts["redis"]}
        scene = HostsScene(
            folder=folder,
            dice=dice,
            say=say,
            setting=setting,
            postgresql=postgresql,
            redis=server,
            workers=workers,
            web=web,
            services=services,
            sites=sites,
        )
        count = server.autoscaler_count if setting.autoscaled else server.worker_count
        if not scene.wait_for(lambda: count() >= WORKERS, START_SECONDS):
            raise RuntimeError(f"only {count()} of {WORKERS} worker hosts have begun; see {folder}")
        ends.enter_context(sampled(server, workers, scene.samples))
        scene.start_crawls()
        yield scene
