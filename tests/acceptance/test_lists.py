"""A list of URLs, from the command line to the receipt, with a stock worker."""

import json
import os
import sqlite3
from pathlib import Path

from django.core.management import call_command

from tests.site import Site, moved, page
from tests.stack import Stack

LISTED = 200
COMMAND = ("python", "manage.py", "crawl", "--allow-private", "--concurrency", "1")


def a_site() -> Site:
    """Every page links to others that nobody listed."""
    pages = {f"/{number}": page(f"/unlisted/{number}", f"/{number + 1}") for number in range(LISTED)}
    return Site({**pages, "/moved": moved("/elsewhere")})


def priority_of(number: int) -> int:
    return number * 7 % 11


def test_exactly_the_pages_of_a_list_are_asked_for_the_urgent_ones_first(stack: Stack, tmp_path: Path) -> None:
    urls, invalid = tmp_path / "urls.csv", tmp_path / "invalid.tsv"
    with a_site().serving() as site:
        rows = [f"{site.url}/{number},{priority_of(number)}" for number in range(LISTED)]
        noise = ["not a url,1", f"{site.url}/x,eleven", f"{site.url}/moved,0.0", *rows[:50]]
        urls.write_text("\n".join(["Address,Priority", *rows, *noise]))
        stack.start_worker()
        done = stack.run(*COMMAND, "--list", str(urls), "--invalid", str(invalid), "--json")
        asked = [request.path for request in site.requests if request.path != "/robots.txt"]
    receipt = json.loads(done.stdout)
    assert sorted(asked) == sorted(["/moved", *(f"/{number}" for number in range(LISTED))])
    priorities = [0 if path == "/moved" else priority_of(int(path[1:])) for path in asked]
    assert priorities == sorted(priorities, reverse=True)
    assert receipt["list"] == {"lines": LISTED + 53, "taken": LISTED + 1, "invalid": 2, "duplicates": 50}
    assert (receipt["discovered"], receipt["fetched"]) == (LISTED + 1, LISTED + 1)
    assert [line.split("\t")[0] for line in invalid.read_text().splitlines()] == [str(LISTED + 2), str(LISTED + 3)]
    assert "253 lines: 201 URLs, 50 duplicates, 2 not usable." in done.stderr


def test_of_a_list_whose_loader_is_killed_nothing_stays(stack: Stack, tmp_path: Path) -> None:
    urls = tmp_path / "urls.txt"
    os.mkfifo(urls)
    loader = stack.spawn(*COMMAND, "--list", str(urls))
    with urls.open("w") as pipe:
        pipe.writelines(f"http://127.0.0.1:2/{number}\n" for number in range(6000))
        pipe.flush()
        stack.wait_for(lambda: bool(stack.rows("SELECT id FROM crawler_crawl WHERE discovered > 0")))
        loader.kill()
        loader.wait(10)
    with sqlite3.connect(stack.folder / "db.sqlite3") as database:
        database.execute("UPDATE crawler_crawl SET loaded_at = '2020-01-01 00:00:00' WHERE state = 'loading'")
    database.close()
    stack.within(lambda: call_command("reconcile"))
    assert not stack.rows("SELECT id FROM crawler_crawl")
    assert not stack.rows("SELECT id FROM crawler_page")
