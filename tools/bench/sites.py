"""Knows the sites that are crawled: three manuals out of Debian's packages, and the generated one; serves them all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from crawler.launch.process_group import Children
from crawler.settings.environment import ROOT
from tools.bench import nginx
from tools.bench.crowd import Crowd
from tools.bench.generated import Site
from tools.bench.services import GRACE, LOOPBACK, PATIENCE, Unavailable, free_port
from tools.bench.serving import Seen

GENERATED = "generated"
WRITTEN = 20_000  # pages of a generated site that are written to files, some 250 MB
ADMINISTRATORS = ("/usr/sbin", "/usr/local/sbin")  # where nginx is, off the PATH of most users


@dataclass(frozen=True)
class Manual:
    name: str
    title: str
    package: str  # Debian's
    place: str  # of its index.html in the package
    is_long: bool = False  # peers take most of a minute for it, or longer
    is_large: bool = False  # ten thousand pages


@dataclass(frozen=True)
class Served:
    name: str
    title: str
    url: str


MANUALS = (
    Manual("postgresql", "PostgreSQL manual", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
    Manual("python", "Python manual", "python3.11-doc", "usr/share/doc/python3.11-doc/html", is_long=True),
    Manual(
        "openjdk",
        "OpenJDK documentation",
        "openjdk-17-doc",
        "usr/share/doc/openjdk-17-jre-headless/api",
        is_long=True,
        is_large=True,
    ),
)


def unpacked(manual: Manual, folder: Path) -> Path:
    """The folder with its index.html. Fetches and unpacks the package below `folder` unless it is there.

    Raises Unavailable where there is no apt, or it does not know the package.
    """
    root = root_in(folder, manual)
    if root is not None:
        return root
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Unavailable("there is no apt here to fetch it with")
    folder.mkdir(parents=True, exist_ok=True)
    print(f"Fetching Debian's package {manual.package} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="unpacking-", dir=folder) as name:  # half a package is never taken for it
        partial = Path(name)
        _run(["apt-get", "-qq", "download", manual.package], partial)
        _run(["dpkg-deb", "-x", str(next(partial.glob("*.deb"))), str(partial / "whole")], partial)
        shutil.rmtree(folder / manual.package, ignore_errors=True)
        (partial / "whole").rename(folder / manual.package)
    root = root_in(folder, manual)
    if root is None:
        raise Unavailable(f"the package {manual.package} has no {manual.place}/index.html")
    return root


def root_in(folder: Path, manual: Manual) -> Path | None:
    """Where the manual begins, in whichever folder below this one the package was unpacked."""
    found = sorted(folder.glob(f"*/{manual.place}/index.html"))
    return found[0].parent.resolve() if found else None


@contextmanager
def served(manuals: Sequence[tuple[Manual, Path]], generated: int, work: Path) -> Iterator[list[Served]]:
    """The manuals from their folders, and a generated site of so many pages (0 = none), until the block ends.

    All of them by nginx, where it is there; a large generated site is computed page by page in any case.
    """
    folders = [(manual.name, manual.title, folder) for manual, folder in manuals]
    program = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", os.defpath), *ADMINISTRATORS)))
    title = f"generated site, {generated:,} pages"
    if program and 0 < generated <= WRITTEN:
        folders.append((GENERATED, title, written(Site(generated), work / GENERATED)))
    places = [(name, told, free_port(), folder) for name, told, folder in folders]
    found = [Served(name, told, url_of(port)) for name, told, port, _ in places]
    with Children(GRACE) as children, (work / "servers.log").open("wb") as log:
        if program and places:
            settings = work / "nginx.conf"
            settings.write_text(nginx.configuration({port: folder for *_, port, folder in places}, work))
            children.start([program, "-e", str(work / "error.log"), "-c", str(settings)], output=log, directory=work)
        else:
            for *_, port, folder in places:
                command = _serving("folder", "--folder", str(folder), "--port", str(port))
                children.start(command, output=log, directory=ROOT)
        if generated and GENERATED not in (name for name, *_ in folders):
            port = free_port()
            command = _serving("site", "--pages", str(generated), "--port", str(port))
            children.start(command, output=log, directory=ROOT)
            found.append(Served(GENERATED, title, url_of(port)))
        for site in found:
            wait_for(site.url)
        yield found


def written(site: Site, folder: Path) -> Path:
    """The folder, with the pages of the generated site in it."""
    for page in range(site.pages):
        file = folder / (site.path(page)[1:] or "index.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(site.html(page))
    return folder


@contextmanager
def served_crowd(crowd: Crowd, port: int, work: Path) -> Iterator[int]:
    """The hosts of the list on this port; gives the pid of their server."""
    command = _serving("crowd", "--pages", str(crowd.urls), "--hosts", str(crowd.hosts), "--seed", str(crowd.seed))
    latency = [] if crowd.answer_after is None else ["--latency", str(crowd.answer_after)]
    command = [*command, *latency, "--port", str(port)]
    with _listening(command, work / "servers.log") as server:
        yield server.pid


@contextmanager
def served_slowly(pages: int, latency: float, log: Path) -> Iterator[str]:
    """The address of a generated site whose every answer takes so many seconds. Nothing is asked of it here, so that
    the first request is the crawler's; when the block has ended, `seen_by` reads what there was."""
    port = free_port()
    command = _serving("site", "--pages", str(pages), "--latency", str(latency), "--port", str(port))
    with _listening(command, log):
        yield url_of(port)


def seen_by(log: Path) -> Seen:
    return Seen(**json.loads(log.read_text().splitlines()[-1]))


@contextmanager
def _listening(command: Sequence[str], said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server, once it has said its port."""
    with Children(GRACE) as children, said.open("wb") as log:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        server = children.start(command, output=log, directory=ROOT, environment=environment)
        deadline = time.monotonic() + PATIENCE
        while not said.read_text().strip().isdecimal():
            if server.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"{' '.join(command[3:])} does not listen: {said.read_text().strip()}")
            time.sleep(0.1)
        yield server


def url_of(port: int) -> str:
    return f"http://{LOOPBACK}:{port}/"


def wait_for(url: str) -> None:
    """Until it answers, at most PATIENCE seconds."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(url, timeout=5):  # noqa: S310 (an http address of our own)
                return
        except (URLError, OSError) as error:
            if time.monotonic() > deadline:
                raise Unavailable(f"{url} is not served: {error}") from None
            time.sleep(0.05)


def _serving(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "tools.bench.serving", *words]


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Unavailable(f"{command[0]} failed: {last}")
