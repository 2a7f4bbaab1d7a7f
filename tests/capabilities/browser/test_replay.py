"""The archive of a rendered page, replayed by pywb in Chromium: it needs nothing of the site."""

import gzip
import struct
import subprocess
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.browser.conftest import ARGUMENTS
from tests.conftest import free_port
from tests.site import Reply, Request, Site, moved
from tests.stack import OWN_WORKER, Stack
from tools.bench.peers import environment

pytestmark = pytest.mark.long

BROWSER_WORKER = ("rq", "worker", "-w", "crawler.browser.worker.BrowserWorker", "render")
PATIENCE = 240.0  # seconds; far beyond what it takes, for a machine that is busy
REQUIREMENTS = "requirements-replay.txt"

DOCUMENT = """<!doctype html><title>Shop</title><link rel=stylesheet href=/shop.css>
<h1>Shop</h1><img src=/logo alt=Logo><p id=price></p><p id=found></p><script src=/shop.js></script>"""
STYLE = "h1 { color: rgb(1, 2, 3) } body { background-image: url(/paper.png) }"
SCRIPT = """
fetch('/price').then((reply) => reply.text()).then((text) => { price.textContent = text });
fetch('/find', { method: 'POST', body: 'word=red' }).then((reply) => reply.text()).then((text) => {
    found.textContent = text
})"""

WIDTH_OF_BACKGROUND = """async (element) => {
    const image = new Image();
    image.src = getComputedStyle(element).backgroundImage.slice(5, -2);
    await image.decode();
    return image.naturalWidth;
}"""


def png(width: int) -> bytes:
    """A grey picture of this width, one pixel high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0" + b"\x80" * width)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def of_type(kind: str, body: str | bytes, **headers: str) -> Reply:
    return Reply(body, headers={"Content-Type": kind, **headers})


class Shop(Site):
    """A page that is nothing without its style, which is sent compressed, its images, one of them behind a redirect,
    and its script, which sends a form."""

    def __init__(self) -> None:
        super().__init__(
            {
                "/": DOCUMENT,
                "/shop.css": of_type("text/css", gzip.compress(STYLE.encode()), **{"Content-Encoding": "gzip"}),
                "/shop.js": of_type("text/javascript", SCRIPT),
                "/logo": moved("/logo.png"),
                "/logo.png": of_type("image/png", png(3)),
                "/paper.png": of_type("image/png", png(5)),
                "/price": of_type("text/plain", "12 pounds"),
            }
        )

    def answer(self, request: Request) -> Reply:
        if request.path != "/find":
            return super().answer(request)
        self.requests.append(request)
        return of_type("text/plain", f"found by {request.body.decode()}")


@dataclass(frozen=True)
class Pywb:
    """pywb's commands, and the folder of its collections."""

    commands: Path
    folder: Path

    def manage(self, *arguments: str) -> None:
        subprocess.run(
            [self.commands / "wb-manager", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=120
        )

    @contextmanager
    def serving(self, wait_for: Callable[[Callable[[], bool]], None]) -> Iterator[str]:
        """The address of `wayback`, which serves the collections."""
        port = free_port()
        with (self.folder / "wayback.log").open("wb") as log:
            server = subprocess.Popen(
                [self.commands / "wayback", "--bind", "127.0.0.1", "--port", str(port)],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}/"))
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(30)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return int(reply.status) == 200
    except OSError:
        return False


@pytest.fixture
def pywb(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Pywb:
    """From an environment below .bench, which is made from REQUIREMENTS when it is first needed. If that fails, so
    does the test, with what pip says."""
    python = environment.prepared(environment.BENCH / "replay", [REQUIREMENTS])
    if python is None:
        pytest.fail(f"pywb could not be installed:\n{capfd.readouterr().err}")
    folder = tmp_path / "pywb"
    folder.mkdir()
    return Pywb(python.parent, folder)


def archive_of(stack: Stack, site: Site) -> Path:
    """The WARC of a crawl of the site, every page of it rendered."""
    stack.spawn(*OWN_WORKER)
    stack.spawn(*BROWSER_WORKER)
    crawl = stack.start(f"{site.url}/", render="always", keep=("warc",))
    receipt = stack.wait_until_finished(crawl, PATIENCE)
    assert (receipt["fetched"], receipt["rendered"]) == (1, {"always": 1})
    file = stack.folder / "shop.warc.gz"
    stack.run("python", "manage.py", "export", str(crawl), "--format", "warc.gz", "--output", str(file))
    return file


def test_pywb_shows_a_rendered_page_as_it_was_and_asks_the_site_for_nothing(
    stack: Stack, pywb: Pywb, program: Path
) -> None:
    with Shop().serving() as site:
        archive = archive_of(stack, site)
        pywb.manage("init", "shop")
        pywb.manage("add", "shop", str(archive))
        in_crawl = site.hits
        with pywb.serving(stack.wait_for) as wayback, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
            tab = browser.new_page()
            tab.set_default_timeout(PATIENCE * 1000)
            asked, failed = list[str](), list[str]()
            tab.on("request", lambda request: asked.append(request.url))
            tab.on("requestfailed", lambda request: failed.append(request.url))
            tab.goto(f"{wayback}/shop/{site.url}/", wait_until="networkidle")
            shown = tab.frame_locator("#replay_iframe")
            assert shown.locator("#price", has_text="pounds").inner_text() == "12 pounds"
            assert shown.locator("#found", has_text="found").inner_text() == "found by word=red"
            assert shown.locator("h1").evaluate("(h1) => getComputedStyle(h1).color") == "rgb(1, 2, 3)"
            assert shown.locator("img").evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 3
            assert shown.locator("body").evaluate(WIDTH_OF_BACKGROUND) == 5
            browser.close()
        assert failed == []
        assert [url for url in asked if not url.startswith(f"{wayback}/")] == []
        assert site.hits == in_crawl
    assert set(in_crawl) == {*site.pages, "/find", "/robots.txt"}
