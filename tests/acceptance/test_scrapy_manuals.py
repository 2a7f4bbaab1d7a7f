"""Two real manuals through Scrapy: the same pages as without it.

As for `tests/golden/test_real_sites.py`, the manuals are those that `bin/bench --sites FOLDER` has unpacked:
`REAL_SITES=FOLDER bin/test --all tests/acceptance/test_scrapy_manuals.py`.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from crawler.capabilities.scrapy.options import BUILT_IN, SCRAPY
from tests.stack import Stack
from tools.bench.sites import MANUALS, Manual, root_in, served

FOLDER = os.environ.get("REAL_SITES")
SITES = [manual for manual in MANUALS if not manual.is_large]
SCRAPY_WORKER = ("rq", "worker", "-w", "crawler.worker.Worker", "scrapy")
PATIENCE = 600.0
MANY = 500  # pages: both have more
SAME = ("url", "outcome", "http_status", "title", "content_type", "bytes", "redirect_to", "attempts")

pytestmark = [pytest.mark.long, pytest.mark.skipif(not FOLDER, reason="REAL_SITES names no folder with the manuals")]


@pytest.mark.parametrize("manual", SITES, ids=lambda manual: manual.name)
def test_both_engines_find_the_same_pages_of_a_manual(stack: Stack, manual: Manual) -> None:
    root = root_in(Path(FOLDER or ""), manual)
    assert root is not None, f"{manual.package} is not unpacked in {FOLDER}"
    stack.start_worker()
    stack.spawn(*SCRAPY_WORKER)
    with served([(manual, root)], 0, stack.folder) as [site]:
        found = {engine: pages_of(stack, site.url, engine) for engine in (BUILT_IN, SCRAPY)}
    assert len(found[SCRAPY]) > MANY
    assert found[SCRAPY] == found[BUILT_IN]


def pages_of(stack: Stack, url: str, engine: str) -> list[tuple[Any, ...]]:
    crawl = stack.start(url, engine=engine)
    receipt = stack.wait_until_finished(crawl, PATIENCE)
    assert receipt["discovered"] == receipt["fetched"]
    return sorted(tuple(row[name] for name in SAME) for row in stack.pages(crawl).values())
