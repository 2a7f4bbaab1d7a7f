"""A list of URLs, from the command line to the receipt, with a stock worker."""

import json
from pathlib import Path

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
