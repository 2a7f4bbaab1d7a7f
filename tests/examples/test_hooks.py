"""The examples of hooks do what they say."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rq import Queue

from crawler.exports.rows import rows
from crawler.models import Delivery, Page
from crawler.notices.delivery import deliver_due
from crawler.queueing import queues
from tests.bench import Bench
from tests.site import Reply, page
from tests.stack import ROOT

KETTLE = '<h1>A kettle</h1><b itemprop="price" content="12.50">12,50</b> <i itemprop="priceCurrency">EUR</i>'
PAGES = {"/": page("/kettle", "/gone"), "/kettle": KETTLE, "/gone": Reply(status=404)}


def run(bench: Bench) -> None:
    bench.run()
    while Delivery.objects.filter(state=Delivery.PENDING).exists():
        Delivery.objects.filter(state=Delivery.PENDING).update(due_at="2000-01-01T00:00Z")
        deliver_due()


@pytest.mark.site(PAGES)
def test_prices_are_columns_and_rows_of_a_file(
    bench: Bench, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CRAWLER_HOOKS = ["examples.hooks.prices.Prices"]
    monkeypatch.setenv("PRICES_FILE", str(tmp_path / "prices"))
    run(bench)
    with closing(sqlite3.connect(tmp_path / "prices")) as database:
        stored = database.execute("SELECT url, price, currency FROM prices").fetchall()
    assert stored == [(f"{bench.site.url}/kettle", 12.5, "EUR")]
    prices = {row["url"].rpartition("/")[2]: (row["price"], row["currency"]) for row in rows(bench.crawl)}
    assert prices == {"": (None, None), "kettle": (12.5, "EUR"), "gone": (None, None)}


@pytest.mark.site(PAGES)
def test_pages_are_worked_on_by_a_worker_of_another_queue(bench: Bench, settings: Any, tmp_path: Path) -> None:
    settings.CRAWLER_HOOKS = ["examples.hooks.own_queue.Passing"]
    run(bench)
    assert Queue("my-pages", connection=queues.connection()).count == 2
    command = [sys.executable, "-m", "rq.cli", "worker", "--burst", "--url", settings.REDIS_URL, "my-pages"]
    variables = {
        **os.environ,
        "MY_PAGES_FILE": str(tmp_path / "pages"),
        "DJANGO_SETTINGS_MODULE": "crawler.settings.test",
    }
    subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True, timeout=60)
    expected = Page.objects.filter(outcome="2xx").values_list("id", "url")
    assert set((tmp_path / "pages").read_text().splitlines()) == {f"{number} {url}" for number, url in expected}
