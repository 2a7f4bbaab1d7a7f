"""`bin/chaos --render`: what its site is, and a whole session of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crawler.capabilities.browser.chromium import installed
from tests.browser_sites.spa import GONE, spa
from tests.stack import ROOT
from tools.chaos.shop import expected_of, shop, times_rendered
from tools.chaos.site import Site


def test_each_page_is_a_shell_that_asks_for_what_it_may_not_have() -> None:
    content = shop(spa(pages=20), "127.0.0.2:1")
    assert all("//127.0.0.2:1/" in str(content(path, 0).body) for path in ("/", "/about", "/item/1"))
    assert content(GONE, 0).status == 404


def test_a_page_is_asked_for_twice_and_rendered_once() -> None:
    known = spa(pages=20)
    site = Site(shop(known, "127.0.0.2:1"), 0.0)
    with site.serving():
        expected = expected_of(known, site)
    assert expected.hits["/about"] == 2
    assert len(expected.pages) == len(expected.shown) + 1 == 21
    assert set(times_rendered(expected.hits, expected.shown).values()) == {1}


@pytest.mark.long
def test_a_crawl_of_rendered_pages_ends_exactly_though_browsers_are_killed() -> None:
    pytest.importorskip("playwright", reason="Playwright is not installed")
    if sys.platform != "linux" or installed() is None:
        pytest.skip("it needs Linux and an installed Chromium")
    command = [sys.executable, "-m", "tools.chaos", "--render", "--pages", "20", "--seed", "3"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert said.returncode == 0, said.stderr[-6000:]
