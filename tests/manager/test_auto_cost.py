"""What `--render auto` costs: of the pages that a server has written at most a tenth go to a browser, and of what
browsers render at most a tenth is such a page."""

import os
from pathlib import Path

import pytest

from crawler.capabilities.browser.shells import reason
from crawler.core.html.document import document_of
from tests import site
from tests.bench import Bench
from tests.browser_sites import spa
from tests.browser_sites.mixed import mixed
from tests.capabilities.browser.test_shells import PAGES, REAL_PAGES, SHELLS
from tests.manager.test_rendering import come, rendering_of, work
from tests.rendering_twin import Browser
from tools.bench.sites import MANUALS, Manual, root_in

AT_MOST = 0.1
FOLDER = os.environ.get("REAL_SITES")

OF_SCRIPTS = {
    **{f"/tool/{number}": html for number, (_, html) in enumerate(SHELLS.values())},
    **{f"/framework/{name}": html for name, html in spa.SHELLS.items()},
}
OF_A_SERVER = {
    **{f"/written/{number}": html for number, html in enumerate(PAGES.values())},
    **{f"/manual/{file.stem}": file.read_text() for file in sorted(REAL_PAGES.glob("*.html"))},
    **{
        path: str(mixed().pages[path]) for path, known in mixed().expected.items() if not known.is_shell and path != "/"
    },
}
SITE = {"/": site.page(*OF_SCRIPTS, *OF_A_SERVER), **OF_SCRIPTS, **OF_A_SERVER}


@pytest.mark.site(SITE)
def test_pages_that_a_server_has_written_cost_next_to_no_time_of_browsers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(dict.fromkeys(OF_SCRIPTS, "<h1>Written by a script</h1>")).installed(monkeypatch)
    come(places=6)
    bench.start(render="auto", max_depth=1)
    work(bench)
    assert bench.state() == "finished"
    signs = rendering_of(bench)
    assert signs.keys() >= SITE.keys()
    assert [path for path in OF_SCRIPTS if not signs[path]] == []
    of_a_server = [path for path in signs if path not in OF_SCRIPTS and signs[path]]
    assert len(of_a_server) <= AT_MOST * (len(OF_A_SERVER) + 1)
    assert len([path for path in browser.rendered if path not in OF_SCRIPTS]) <= AT_MOST * len(browser.rendered)


@pytest.mark.skipif(not FOLDER, reason="REAL_SITES names no folder with the manuals that `bin/bench --sites` unpacks")
@pytest.mark.parametrize(
    "manual", [manual for manual in MANUALS if not manual.is_large], ids=lambda manual: manual.name
)
def test_no_page_of_a_manual_goes_to_a_browser(manual: Manual) -> None:
    root = root_in(Path(FOLDER or ""), manual)
    assert root is not None, f"{manual.package} is not unpacked in {FOLDER}"
    pages = sorted(root.rglob("*.html"))
    assert len(pages) > 500
    assert {page.name: why for page in pages if (why := reason(document_of(page.read_bytes())))} == {}
