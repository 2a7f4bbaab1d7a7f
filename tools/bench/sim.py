"""A crawl of a simulated web of thousands of hosts by real workers, held against the truth.

    python tools/bench/sim.py --hosts 2000 --seed 7 --workers 3

Everything it starts is its own and on loopback: the web, a Redis, the workers, a database in a folder that is deleted
afterwards. Exit code 0 when the crawl equals the truth without a violation, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import django
import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a file, it finds only its own folder

from crawler.launch.embedded_redis import find_program
from tests.stack import Stack
from tools.bench.processes import cpu_seconds
from tools.sim.crawl import finding, start_crawl, start_workers, summary
from tools.sim.serving import free_port, serving
from tools.sim.truth import Terms
from tools.sim.world import World


def main() -> int:
    chosen = _arguments()
    terms = Terms(delay=chosen.delay, concurrency=chosen.concurrency)
    world = World.from_seed(
        chosen.seed,
        hosts=chosen.hosts,
        port=free_port(),
        pages=chosen.pages,
        largest=chosen.largest,
        hanging=chosen.hanging,
        refusing=chosen.refusing,
        outside=max(1, chosen.hosts // 100),
    )
    os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.settings.test"
    django.setup()  # for the start of a crawl
    with tempfile.TemporaryDirectory() as name, _redis(Path(name)) as redis_url, _stack(Path(name), redis_url) as stack:
        with serving(world, Path(name)) as web:
            start_workers(stack, chosen.workers)
            print(f"{chosen.hosts} hosts, seed {chosen.seed}, {chosen.workers} workers, delay {chosen.delay:g} s")
            cpu = cpu_seconds(worker.pid for worker in stack.children)
            crawl = start_crawl(stack, world.start_urls(), terms, **dict(chosen.option))
            is_finished = _wait(stack, crawl, chosen.timeout)
            cpu = cpu_seconds(worker.pid for worker in stack.children) - cpu
            found = finding(stack, web, crawl, terms) if is_finished else None
            said = "" if found else stack.run("python", "manage.py", "why", str(crawl), check=False).stdout
        if chosen.keep:
            chosen.keep.mkdir(parents=True, exist_ok=True)
            (chosen.keep / "processes.log").write_text(stack.log())
    if found is None:
        print(f"not finished after {chosen.timeout:g} s\n{said}")
        return 1
    print(f"workers' CPU {cpu:.1f} s, {1000 * cpu / found.requests:.1f} ms a request")
    print(summary(found))
    return 1 if found.differences or found.violations or found.too_often else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/bench/sim.py", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--pages", type=int, default=10, help="pages a host, on average (default: %(default)s)")
    parser.add_argument("--largest", type=int, default=300, help="pages of the largest host (default: %(default)s)")
    parser.add_argument("--hanging", type=int, default=10, help="hosts that never answer (default: %(default)s)")
    parser.add_argument("--refusing", type=int, default=10, help="hosts that take no connection (default: %(default)s)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds (default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=2, help="connections a host (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds to wait for the end (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the workers' log is to be kept")
    parser.add_argument(
        "--option",
        type=_option,
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="one more option of the crawl, such as throttle=false",
    )
    return parser.parse_args()


def _option(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    return name, json.loads(value)


def _wait(stack: Stack, crawl: UUID, seconds: float) -> bool:
    """Whether the crawl finishes in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if stack.crawl(crawl)["state"] == "finished":
            return True
        time.sleep(0.2)
    return False


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    program = find_program(os.environ.get("PATH", os.defpath))
    if program is None:
        raise SystemExit("No Redis server was found: install redis-server.")
    port = free_port()
    command = [str(program), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            _wait_for_redis(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()


def _wait_for_redis(port: int) -> None:
    deadline = time.monotonic() + 10
    with redis.Redis(port=port) as client:
        while True:
            try:
                client.ping()
                return
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


@contextmanager
def _stack(folder: Path, redis_url: str) -> Iterator[Stack]:
    stack = Stack(folder, redis_url)
    try:
        yield stack
    finally:
        stack.end()


if __name__ == "__main__":
    sys.exit(main())
