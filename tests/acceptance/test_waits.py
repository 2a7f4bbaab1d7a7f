"""A server that asks to wait is named, with its status and the moment, where a user looks. The wait can be ended."""

import json
import re
from typing import Any

import pytest

from tests.site import Reply, Site, page
from tests.stack import Stack

WORKERS = 1
BUSY = Reply("busy", status=429, headers={"Retry-After": "3600"})
SAID = re.compile(r"answered 429 and asked to wait until \d\d:\d\d:\d\d UTC \(in \d min \d+ s\)\.")


@pytest.mark.long
def test_while_every_page_answers_429_the_server_is_named_and_not_its_connections(crew: Stack) -> None:
    with Site(dict.fromkeys(("/robots.txt", "/", "/a", "/b"), BUSY)).serving() as site:
        crawl = crew.start(f"{site.url}/", f"{site.url}/a", f"{site.url}/b", concurrency=2)
        # After the first stop, of ten seconds, another page is tried and refused, too.
        crew.wait_for(lambda: crew.redis.hget(f"crawler:host:{site.host}", "stops") == b"2")

        def why() -> dict[str, Any]:
            told: dict[str, Any] = json.loads(crew.run("python", "manage.py", "why", str(crawl), "--json").stdout)
            return told

        crew.wait_for(lambda: bool(why()["hosts"]["shown"]))  # what it had in hand is back
        told = crew.run("python", "manage.py", "why", str(crawl)).stdout
        assert told.startswith(f"{site.host} ")
        assert SAID.search(told.splitlines()[0]), told
        assert "connections are all in use" not in told

        site.pages |= {"/": page("/a", "/b"), "/a": page(), "/b": page()}
        done = crew.run("python", "manage.py", "host", site.host, "--forget").stdout
        assert done == f"The wait for {site.host} is ended: 1 crawl with pages of it goes on.\n"
        assert crew.wait_until_finished(crawl)["statuses"] == {"200": 3}
