"""How a robots.txt is had, against sites that redirect, fail and exaggerate."""

from __future__ import annotations

import pytest

from crawler.core.outcomes import Outcome
from crawler.fetching.fetcher import Limits
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from crawler.fetching.robots import MAX_BYTES, RobotsFile, fetch_robots
from tests.fetching.server import Reply, Server, Site, Then, page

RULES = page("User-agent: *\nDisallow: /a\n", content_type="text/plain")


def moved(location: str) -> Reply:
    return page("moved", "301 Moved", location=location)


def had(site: Site, limits: Limits | None = None) -> tuple[RobotsFile, Server]:
    with Server(site) as server, HttpFetcher(Guard(("127.0.0.1",)), "Tester/1", limits) as fetcher:
        return fetch_robots(fetcher, server.origin), server


def test_it_reads_the_file() -> None:
    robots, server = had({"/robots.txt": RULES})
    assert robots == RobotsFile(
        status=200, text="User-agent: *\nDisallow: /a\n", requests=1, outcome=Outcome.SUCCESS, error=""
    )
    assert server.paths() == ["/robots.txt"]


@pytest.mark.parametrize("content_type", ["", "text/html", "application/octet-stream"])
def test_it_reads_the_file_whatever_it_is_called(content_type: str) -> None:
    robots, _ = had({"/robots.txt": page("Disallow: /", content_type=content_type)})
    assert robots.text == "Disallow: /"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (page("<p>none", "404 Not Found"), 404),
        (page("", "503 Busy"), 503),
        (page("short", "404 Not Found", Then.CLOSE, content_length="500"), 404),  # the status is the answer
        (moved(""), 301),  # says not where to
        (page("", "304 Not Modified", location="/elsewhere"), 304),  # not a redirect
    ],
)
def test_a_status_other_than_success_is_the_answer(reply: Reply, status: int) -> None:
    robots, _ = had({"/robots.txt": reply})
    assert (robots.status, robots.text, robots.error) == (status, "", "")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b"", Then.CLOSE), Outcome.CONNECT),
        (page("Disallow", then=Then.CLOSE, content_length="500"), Outcome.MALFORMED),  # half a file forbids half
        (page("", "999 Go away"), Outcome.MALFORMED),
        (moved("ftp://example.com/robots.txt"), Outcome.REDIRECT),
        (moved("http://10.0.0.1/robots.txt"), Outcome.PRIVATE_ADDRESS),
    ],
)
def test_a_file_that_cannot_be_reached_has_no_status(reply: Reply, outcome: Outcome) -> None:
    robots, _ = had({"/robots.txt": reply})
    assert (robots.status, robots.text, robots.outcome) == (None, "", outcome)
    assert robots.error


def test_it_follows_redirects_and_counts_them() -> None:
    site = {"/robots.txt": moved("/1"), "/1": moved("2"), "/2": moved("/3"), "/3": moved("/4"), "/4": moved("/5")}
    robots, server = had({**site, "/5": RULES})
    assert (robots.status, robots.requests) == (200, 6)
    assert server.paths() == ["/robots.txt", "/1", "/2", "/3", "/4", "/5"]


def test_it_stops_after_the_fifth_redirect() -> None:
    robots, server = had({"/robots.txt": moved("/robots.txt")})
    assert (robots.status, robots.text, robots.requests) == (301, "", 6)
    assert len(server.requests) == 6


def test_it_keeps_the_beginning_of_a_large_file() -> None:
    body = "Disallow: /a\n" + "#" * MAX_BYTES
    robots, _ = had({"/robots.txt": page(body)}, Limits(max_body_bytes=1000))
    assert robots.status == 200
    assert robots.text == body[:MAX_BYTES]


def test_bytes_that_are_no_text_do_not_matter() -> None:
    robots, _ = had({"/robots.txt": page(b"\xff\xfe\nDisallow: /a")})
    assert robots.text.endswith("Disallow: /a")
