"""The site a run crawls: always the same, a little slow, logging every request; and the receiver of notices."""

from __future__ import annotations

import json
import mimetypes
import threading
import time
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.site import Reply, Server, moved, page
from tests.site import Request as Sent

HOOK = "/-/hook"

Content = Callable[[str, int], Reply]
"""Path and how often it was asked for before -> what to answer."""


@dataclass(frozen=True)
class Request:
    path: str
    at: float  # epoch seconds: the clock of the database's triggers


@dataclass(frozen=True)
class Delivery:
    """One of a notice that arrived."""

    id: str
    crawl: str
    at: float  # epoch seconds


class Site(Server):
    """Serves `content`, each answer after `latency` seconds more or less, by the path."""

    def __init__(self, content: Content, latency: float, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        self._content, self._latency = content, latency
        self._lock = threading.Lock()
        super().__init__(address)
        self.origin = self.url
        self.hook = f"{self.origin}{HOOK}"
        self.forget()

    def forget(self) -> None:
        """Begin a new run: nothing was ever asked."""
        with self._lock:
            self._requests: list[Request] = []
            self._asked: Counter[str] = Counter()
            self._answered: set[str] = set()
            self._received: list[Delivery] = []

    def answer(self, request: Sent) -> Reply:
        path = urlsplit(request.path).path
        if path == HOOK:
            told = json.loads(request.body)
            with self._lock:
                self._received.append(Delivery(told["id"], told["crawl"], time.time()))
            return Reply("taken")
        reply = self.page_at(path)
        self.answered(path)
        return reply

    def answered(self, path: str) -> None:
        with self._lock:
            self._answered.add(path)

    def page_at(self, path: str) -> Reply:
        with self._lock:
            before = self._asked[path]
            self._asked[path] += 1
            self._requests.append(Request(path, time.time()))
        reply = self._content(path, before)
        time.sleep(self._latency * (0.5 + zlib.crc32(path.encode()) / 2**32))
        return reply

    @property
    def hits(self) -> Counter[str]:
        """How often each path was asked for in this run."""
        with self._lock:
            return Counter(self._asked)

    @property
    def done(self) -> frozenset[str]:
        """The paths that were answered at least once."""
        with self._lock:
            return frozenset(self._answered)

    @property
    def count_done(self) -> int:
        with self._lock:
            return len(self._answered)

    @property
    def received(self) -> tuple[Delivery, ...]:
        with self._lock:
            return tuple(self._received)

    def first_request(self, after: float, paths: Collection[str] | None = None) -> Request | None:
        """The first request after this moment; for one of these paths, when given."""
        with self._lock:
            later = self._requests[bisect_right(self._requests, after, key=lambda request: request.at) :]
        return next((request for request in later if paths is None or request.path in paths), None)


def folder(root: Path) -> Content:
    """The files of a folder, as a plain web server shows them."""
    files = {"/" + file.relative_to(root).as_posix(): file for file in sorted(root.rglob("*")) if file.is_file()}
    files |= {path.removesuffix("index.html"): file for path, file in files.items() if path.endswith("/index.html")}

    def content(path: str, before: int) -> Reply:
        file = files.get(unquote(path))
        if file is None:
            return Reply("not here", status=404)
        return Reply(file.read_bytes(), headers={"Content-Type": mimetypes.guess_type(file.name)[0] or "text/html"})

    return content


def generated(pages: int) -> Content:
    """A site of so many pages and some more: links across, redirects, missing pages, forbidden ones, and some that
    are busy at first."""
    table = {"/robots.txt": Reply("User-agent: *\nDisallow: /private/", headers={"Content-Type": "text/plain"})}
    for number in range(pages):
        children = [f"/page/{child}" for child in range(number * 6 + 1, number * 6 + 7) if child < pages]
        across = [_name((number * step + 11) % pages) for step in (3, 7, 31)]
        table[_name(number)] = Reply(page(*children, *across, *_oddities(number), title=f"Page {number}"))
    for number in range(0, pages, 17):
        table[f"/moved/{number}"] = moved(_name((number * 5 + 2) % pages), 301 if number % 2 else 302)
    busy = {f"/busy/{number}": Reply(page("/"), headers={}) for number in range(0, pages, 61)}

    def content(path: str, before: int) -> Reply:
        if path in busy:
            return busy[path] if before else Reply("busy", status=503)
        return table.get(path, Reply("not here", status=404))

    return content


def queued(pages: int) -> Content:
    """The same site, with a leaf in /archive/ that some pages link to, and others in /extra/ that no page links to."""
    site = generated(pages)

    def content(path: str, before: int) -> Reply:
        if path.startswith("/archive/") or path.endswith("/more"):
            return Reply(page())
        if path.startswith("/extra/"):
            return Reply(page(f"{path}/more", "/"))
        reply = site(path, before)
        number = path.removeprefix("/page/")
        if reply.status == 200 and number.isdigit() and int(number) % 5 == 0:
            return Reply(f'{reply.body!s}<a href="/archive/{number}">old</a>')
        return reply

    return content


def _name(number: int) -> str:
    return f"/page/{number}" if number else "/"


def _oddities(number: int) -> Iterator[str]:
    """Links of a page that lead to something else than a page."""
    if number % 17 == 0:
        yield f"/moved/{number}"
    if number % 29 == 0:
        yield f"/missing/{number}"
    if number % 41 == 0:
        yield f"/private/{number}"
    if number % 61 == 0:
        yield f"/busy/{number}"
