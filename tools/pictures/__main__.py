"""Take a picture of every page, wide and as narrow as a phone, light and dark, while real workers crawl."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import django
from playwright.sync_api import Browser, sync_playwright


def main() -> int:
    given = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started ends as well
    with tempfile.TemporaryDirectory(prefix="pictures-") as kept:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "crawler.settings.test", "CRAWLER_DATA_DIR": kept}
        django.setup()
        complaints = _session(given, Path(kept))
    _say(f"{len(complaints)} complaints." if complaints else "Nothing was wrong.")
    return 1 if complaints else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the pictures")
    parser.add_argument("--site", metavar="URL", help="a site to crawl (default: a small made-up shop)")
    parser.add_argument(
        "--documentation",
        type=Path,
        metavar="FOLDER",
        help="write the pictures of the documentation there as well",
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="only pages with this in their name")
    parser.add_argument("--axe", action="store_true", help="let axe judge each page as well")
    return parser.parse_args()


def _session(given: argparse.Namespace, kept: Path) -> list[str]:
    from tools.pictures import scene, walk  # Django is set up by now
    from tools.pictures.camera import Camera
    from tools.pictures.shop import shop
    from tools.pictures.stage import web_of

    with ExitStack() as ending:
        web = ending.enter_context(web_of(kept))
        made = ending.enter_context(shop().serving())
        browser = ending.enter_context(_browser())
        camera = Camera(browser, web.base_url, given.out, given.documentation, given.only, given.axe)
        complaints = camera.take(walk.BEFORE, {})
        scene.arrive(web)
        camera.log_in(web.login_link())
        complaints += camera.take(walk.EMPTY, {})
        _say("Crawling ...")
        site = given.site or f"{made.url}/"
        names = scene.make_crawls(web, site, made)
        scene.make_settings(web, site, made)
        _say("Taking pictures ...")
        names["running"] = scene.make_running(web, site, web.stack.crawl(names["whole"])["discovered"])
        complaints += camera.take(walk.RUNNING, names)
        return complaints + camera.take(walk.FULL, names)


@contextmanager
def _browser() -> Iterator[Browser]:
    from crawler.capabilities.browser import install
    from tests.browser.conftest import ARGUMENTS

    program = install.find()
    if program is None:
        raise SystemExit("No Chromium or Chrome was found: python -m crawler.capabilities.browser.install")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
