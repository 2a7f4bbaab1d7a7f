"""Workers whose machines' clocks are ten minutes ahead and ten minutes behind do one crawl together."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.core.protocol.counters import adds_up
from tests.site import Reply, Site, page
from tests.stack import OWN_WORKER, Stack

SKEWED = Path(__file__).resolve().parent.parent / "skewed"
STOCK_WORKER = ("rq", "worker", "crawl", "fetch")
AHEAD_S = (600, -600, 600, -600)
PAGES, DEADLINE_S = 60, 120
CLOSE_S = 2.0
SLOW_RECEIVER = Reply(after=6.0)  # others look at what is due meanwhile


def skewed(ahead: float, *command: str) -> Sequence[str]:
    return ("env", f"PYTHONPATH={SKEWED}", f"TESTS_CLOCK_AHEAD={ahead}", *command)


def some_site() -> Site:
    names = [f"/{number}" for number in range(PAGES)]
    pages: dict[str, Any] = {name: Reply(page(*names[:5]), after=0.05) for name in names}
    pages["/"] = page(*names, "/busy")
    pages["/busy"] = lambda before: Reply(page(), status=200 if before else 503)  # is put off, and asked again
    pages["/hook"] = SLOW_RECEIVER
    return Site(pages)


def times_told(stack: Stack, site: Site) -> Counter[str]:
    """How often the receiver got each delivery, once all are delivered."""
    pending = "SELECT id FROM crawler_delivery WHERE state != 'delivered'"
    stack.wait_for(lambda: not stack.rows(pending))
    return Counter(json.loads(request.body)["id"] for request in site.requests if request.path == "/hook")


@pytest.mark.parametrize("worker", [OWN_WORKER, STOCK_WORKER], ids=["own", "stock"])
@pytest.mark.long
def test_wrong_clocks_change_no_time_and_tell_nobody_twice(stack: Stack, worker: Sequence[str]) -> None:
    with some_site().serving() as site:
        for ahead in AHEAD_S:
            stack.spawn(*skewed(ahead, *worker))
        stack.wait_for(lambda: stack.redis.scard("rq:workers") == len(AHEAD_S))
        began, began_at = time.monotonic(), time.time()
        crawl = stack.start(f"{site.url}/", notify_webhooks=[f"{site.url}/hook"], deadline=DEADLINE_S)
        receipt = stack.wait_until_finished(crawl)
        took = time.monotonic() - began
        told = times_told(stack, site)

    assert receipt["seconds"] == pytest.approx(took, abs=CLOSE_S)
    for name, expected in (("started_at", began_at), ("finished_at", began_at + took)):
        assert datetime.fromisoformat(receipt[name]).timestamp() == pytest.approx(expected, abs=CLOSE_S)
    assert set(told.values()) == {1}, told
    assert [row["attempts"] for row in stack.rows("SELECT attempts FROM crawler_delivery")] == [1] * len(told)
    assert adds_up(receipt)
    assert (receipt["discovered"], receipt["fetched"], receipt["skipped"]) == (PAGES + 2, PAGES + 2, {})
    for row in stack.rows("SELECT fetched_at FROM crawler_page"):
        at = datetime.fromisoformat(f"{row['fetched_at']}+00:00").timestamp()
        assert began_at - CLOSE_S <= at <= began_at + took + CLOSE_S
