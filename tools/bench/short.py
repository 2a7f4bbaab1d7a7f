"""What a crawl by the command costs besides its pages: three pages, by `crawler.launch.crawl` with its own Redis and
workers, again and again. Everything is set up, and nothing runs.

    python tools/bench/short.py [--rounds 10] [--url URL]

It tells when the first request arrives, when the receipt is printed and when the process has ended, in milliseconds
since its start, and the CPU time of all its processes. On a busy machine begin it with `chrt -r 5` (as root): then its
processes go before all others. `--url`: another site, whose first request cannot be seen.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"/": b'<a href="/one">one</a> <a href="/two">two</a>', "/one": b"one", "/two": b"two"}
OPTIONS = ("--allow-private", "--no-sitemaps", "--json")


class Crawl(NamedTuple):
    """Milliseconds."""

    first: float  # request; 0 = of a site elsewhere
    receipt: float
    exit: float  # since the receipt
    total: float
    cpu: float


class Site(ThreadingHTTPServer):
    """Three pages, and when the first request since `forget` arrived."""

    daemon_threads = True
    requested_at = 0.0  # on the monotonic clock

    def forget(self) -> None:
        self.requested_at = 0.0


class _Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        self.server.requested_at = self.server.requested_at or time.monotonic()
        body = PAGES.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts: object) -> None:
        """Nothing is logged."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, metavar="N")
    parser.add_argument("--url", default="", help="of another site")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, served() as site:
        url = chosen.url or f"http://127.0.0.1:{site.server_port}/"
        crawls = [crawled(url, Path(folder), site) for _ in range(chosen.rounds + 1)][1:]  # the first one sets up
    for name in Crawl._fields:
        figures = [getattr(crawl, name) for crawl in crawls]
        print(f"{name:<8} {statistics.median(figures):6.0f} ms, {min(figures):.0f} to {max(figures):.0f}")


def crawled(url: str, folder: Path, site: Site) -> Crawl:
    """One crawl of this site, with its data in a folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "CRAWLER_DATA_DIR": str(folder)}
    site.forget()
    before, began = cpu_ms(), time.monotonic()
    command = [sys.executable, "-P", "-m", "crawler.launch.crawl", url, *OPTIONS]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        receipt = process.stdout.readline()
        told = time.monotonic()
        code = process.wait()
    ended = time.monotonic()
    if code != 0 or not receipt:
        sys.exit(f"the crawl of {url} ended with code {code}")
    first = 1000 * max(0.0, site.requested_at - began)
    return Crawl(first, 1000 * (told - began), 1000 * (ended - told), 1000 * (ended - began), cpu_ms() - before)


def cpu_ms() -> float:
    """Of the processes that have ended by now."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


@contextmanager
def served() -> Iterator[Site]:
    with Site(("127.0.0.1", 0), _Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield site
        site.shutdown()


if __name__ == "__main__":
    main()
