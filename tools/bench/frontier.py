"""What a crawl of a million open pages takes of Redis, and how many operations a second its queue does.

    python tools/bench/frontier.py [--pages 1000000] [--hosts 1000]

It starts a Redis of its own on a free port of 127.0.0.1, and ends it.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from redis import Redis
from redis.exceptions import RedisError

from crawler.core.politeness.host_rules import Pace
from crawler.frontier.frontier import Frontier
from crawler.frontier.ready_queue import Level, QueueItem, SliceOrder
from crawler.launch.embedded_redis import find_program

WINDOW = 50_000  # pages Redis holds of a crawl, see `manager.dispatch`
PAGES_A_SLICE = 10
MIB = 1024 * 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=1_000_000)
    options.add_argument("--hosts", type=int, default=1000)
    chosen = options.parse_args()
    with _own_redis() as redis:
        frontier = Frontier(redis, "a-crawl", default_pace=Pace(slices=4, pages=PAGES_A_SLICE))
        empty = redis.info("memory")["used_memory"]
        _report("seen-set: add", chosen.pages, lambda: _see(frontier, chosen.pages))
        seen = redis.info("memory")["used_memory"]
        window = min(WINDOW, chosen.pages)
        _report("window: put", window, lambda: frontier.ready_queue.enqueue(_waiting(window, chosen.hosts)))
        frontier.ready_queue.move_cursor(Level(5), window)
        full = redis.info("memory")["used_memory"]
        print(
            f"Redis: {(full - empty) / MIB:.1f} MiB for {chosen.pages:,} open pages on {chosen.hosts:,} hosts", end=""
        )
        print(f" ({(seen - empty) / MIB:.1f} the seen-set, {(full - seen) / MIB:.1f} the window)")
        _report("seen-set: look up", 100_000, lambda: frontier.seen.missing(list(_keys(100_000))))
        _report("window: put again", window, lambda: frontier.ready_queue.enqueue(_waiting(window, chosen.hosts)))
        _report("window: count", 100, lambda: [frontier.ready_queue.counts(frontier.now()) for _ in range(100)])
        slices = window // PAGES_A_SLICE // 2
        _report("pick a slice", slices, lambda: _pick(frontier, slices))
        _report("settle a slice", slices, lambda: _settle(frontier))


@contextmanager
def _own_redis() -> Iterator[Redis]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = find_program(os.environ["PATH"])
    if program is None:
        raise SystemExit("No redis-server was found.")
    command = [str(program), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as server,
        Redis(port=port) as redis,
    ):
        try:
            for _ in range(100):
                try:
                    redis.ping()
                    break
                except RedisError:
                    time.sleep(0.1)
            yield redis
        finally:
            server.terminate()


def _see(frontier: Frontier, pages: int) -> None:
    chunk = list[bytes]()
    for key in _keys(pages):
        chunk.append(key)
        if len(chunk) == 20_000:
            frontier.seen.add(chunk)
            chunk = []
    frontier.seen.add(chunk)


def _keys(pages: int) -> Iterator[bytes]:
    for page in range(pages):
        yield blake2b(b"%d" % page, digest_size=16).digest()


def _waiting(pages: int, hosts: int) -> Iterator[QueueItem]:
    for page in range(1, pages + 1):
        yield QueueItem(page, f"host{page % hosts}.example", 0.0)


def _pick(frontier: Frontier, slices: int) -> None:
    for number in range(slices):
        batch = f"batch-{number // 100}"
        if not frontier.ready_queue.dequeue([SliceOrder(batch, "token", number)], frontier.now()):
            raise SystemExit(f"nothing to pick after {number} slices")


def _settle(frontier: Frontier) -> None:
    for lease, _ in frontier.leases.all():
        for number, (lane, pages) in lease.slices.items():
            back = [QueueItem(page, lane, 0.0) for page in pages]
            frontier.leases.complete_slice(lease.batch, lease.token, number, lane, back, 0)


def _report(what: str, operations: int, act: Callable[[], object]) -> None:
    began = time.perf_counter()
    act()
    seconds = time.perf_counter() - began
    print(f"{what}: {operations / seconds:,.0f} a second")


if __name__ == "__main__":
    main()
