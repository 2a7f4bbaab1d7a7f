"""A list with priorities, times and further values, from the command line to the export; and pages that may be lost."""

import json
import time
from pathlib import Path

import pytest

from tests.acceptance.test_killed import kill_with_children
from tests.site import Reply, Site, page
from tests.stack import Stack

COMMAND = ("python", "manage.py", "crawl", "--allow-private", "--concurrency", "1")
LISTED = 40


def priority_of(path: str) -> int:
    """By the rules of the crawl: `/8/...` has 8, others 3."""
    return 8 if path.startswith("/8/") else 3


def a_site() -> Site:
    pages = {f"/{8 if number % 4 == 0 else 3}/{number}": page(f"/unlisted/{number}") for number in range(LISTED)}
    return Site({**pages, "/first": page(), "/last": page(), "/later": page(), "/too-late": page()})


@pytest.mark.long
def test_a_list_orders_times_and_labels_its_pages(stack: Stack, tmp_path: Path) -> None:
    urls, export = tmp_path / "urls.csv", tmp_path / "pages.jsonl"
    with a_site().serving() as site:
        later, later_here = time.time() + 3.0, time.monotonic() + 3.0
        own = ["/last,0,,,z", "/first,10,,,", f"/later,10,,{later:.2f},at noon", f"/too-late,10,1,{later + 3600:.0f},"]
        listed = [f"{path},,30m,," for path in site.pages if "," not in path and path.count("/") == 2]
        urls.write_text("\n".join(["url,priority,ttl,not_before,note", *(f"{site.url}{row}" for row in own + listed)]))
        stack.start_worker()
        rules = ("--priority", "/8/=8", "--priority", ".=3")
        done = stack.run(*COMMAND, *rules, "--list", str(urls), "--export", str(export), "--json")
        asked = [request.path for request in site.requests if request.path != "/robots.txt"]
        at = {request.path: request.at for request in site.requests}
    receipt = json.loads(done.stdout)
    assert (receipt["fetched"], receipt["skipped"]) == (LISTED + 3, {"expired": 1})
    now = [path for path in asked if path != "/later"]
    assert (now[0], now[-1]) == ("/first", "/last")
    assert [priority_of(path) for path in now[1:-1]] == sorted(map(priority_of, now[1:-1]), reverse=True)
    assert at["/later"] >= later_here
    rows = {row["url"].removeprefix(site.url): row for row in map(json.loads, export.read_text().splitlines())}
    assert {path: row["meta"] for path, row in rows.items() if row["meta"]} == {
        "/last": {"note": "z"},
        "/later": {"note": "at noon"},
    }
    assert rows["/too-late"]["outcome"] == "expired"


@pytest.mark.long
def test_what_a_killed_worker_had_is_lost_where_the_crawl_acknowledges_early(stack: Stack) -> None:
    pages = {f"/{number}": Reply(page(), after=0.05) for number in range(LISTED)}
    with Site({"/": page(*pages), **pages}).serving() as site:
        doomed = stack.start_worker()
        crawl = stack.start(f"{site.url}/", ack="early")
        stack.wait_for(lambda: len(site.requests) > LISTED // 2)
        kill_with_children(doomed.pid)
        stack.start_worker()
        receipt = stack.wait_until_finished(crawl)
    outcomes = [row["outcome"] for row in stack.pages(crawl).values()]
    assert receipt["discovered"] == LISTED + 1 == len(outcomes)
    assert receipt["lost"] == receipt["failed"] == outcomes.count("lost") > 0
    assert receipt["fetched"] == outcomes.count("2xx") == LISTED + 1 - receipt["lost"]
    assert max(site.hits.values()) == 1  # nothing was tried again
