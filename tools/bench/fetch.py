"""What CPU time a fetch of a small page takes over a kept connection, by each HTTP client, and what requests' usual
adapter takes for it.

    python tools/bench/fetch.py [--pages 2000] [--bytes 14000]

A process of its own serves the page on 127.0.0.1. The machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.test")

import requests
from django.conf import settings
from requests.adapters import HTTPAdapter

from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard

ROUNDS = 5
HEAD = """HTTP/1.1 200 OK
Server: nginx/1.22.1
Date: Sat, 21 Nov 2026 12:00:00 GMT
Content-Type: text/html
Content-Length: {}
Last-Modified: Fri, 13 Nov 2026 11:12:04 GMT
Connection: keep-alive
ETag: "6af6f084-31bc"
Accept-Ranges: bytes

"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pages", type=int, default=2000)
    options.add_argument("--bytes", type=int, default=14_000)
    chosen = options.parse_args()
    page = HEAD.replace("\n", "\r\n").format(chosen.bytes).encode() + b"x" * chosen.bytes
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = multiprocessing.get_context("fork").Process(target=_serve, args=(listener, page), daemon=True)
        server.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/page.html"
        for client in ("builtin", "requests", *(["curl"] if find_spec("pycurl") else [])):
            settings.CRAWLER_HTTP_CLIENT = client
            with HttpFetcher(Guard(("127.0.0.1",)), "Benchmark/1", now=time.time) as fetcher:
                _report(f"HttpFetcher.get, {client}", chosen.pages, partial(_size, fetcher, url))
        request = requests.Session().prepare_request(requests.Request("GET", url))
        with closing(HTTPAdapter()) as adapter:
            _report("requests' HTTPAdapter.send", chosen.pages, lambda: len(adapter.send(request).content))
        server.terminate()


def _size(fetcher: HttpFetcher, url: str) -> int:
    return len(fetcher.get(url).body)


def _report(what: str, pages: int, fetch: Callable[[], int]) -> None:
    taken = []
    for _ in range(ROUNDS):
        began, size = time.process_time(), 0
        for _ in range(pages):
            size += fetch()
        taken.append((time.process_time() - began) / pages * 1e6)
    print(f"{what:30} {min(taken):5.0f} to {max(taken):.0f} microseconds of CPU a page of {size // pages:,} bytes")


def _serve(listener: socket.socket, page: bytes) -> None:
    """One connection after another; each request, which comes in one piece, is answered with the page."""
    while True:
        connection, _ = listener.accept()
        with connection:
            while connection.recv(65536):
                connection.sendall(page)


if __name__ == "__main__":
    main()
