"""Fetching robots.txt from sites that redirect, fail and send too much."""

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.core.robots.robots_txt import MAX_BYTES
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard
from crawler.http.robots import RobotsFile, fetch_robots
from tests.http.server import Reply, Server, Site, Then, page

RULES = page("User-agent: *\nDisallow: /a\n", content_type="text/plain")


def moved(location: str) -> Reply:
    return page("moved", "301 Moved", location=location)


def had(site: Site, limits: Limits | None = None) -> tuple[RobotsFile, Server]:
    with Server(site) as server, HttpFetcher(Guard(("127.0.0.1",)), "Tester/1", limits) as fetcher:
        return fetch_robots(fetcher, server.origin), server


def test_it_reads_the_file() -> None:
    robots, server = had({"/robots.txt": RULES})
    assert robots == RobotsFile(
        status=200,
        body=b"User-agent: *\nDisallow: /a\n",
        content_type="text/plain",
        requests=1,
        outcome=Outcome.SUCCESS,
        error="",
    )
    assert server.paths() == ["/robots.txt"]


@pytest.mark.parametrize("content_type", ["", "text/html", "application/octet-stream"])
def test_it_reads_the_file_whatever_it_is_called(content_type: str) -> None:
    robots, _ = had({"/robots.txt": page("Disallow: /", content_type=content_type)})
    assert (robots.body, robots.content_type) == (b"Disallow: /", content_type)


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
    assert (robots.status, robots.body, robots.error) == (status, b"", "")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b"", Then.CLOSE), Outcome.CONNECT),
        (page("Disallow", then=Then.CLOSE, content_length="500"), Outcome.MALFORMED),  # half a file forbids half
        (page("", "999 Go away"), Outcome.MALFORMED),
        (moved("ftp://example.com/robots.txt"), Outcome.REDIRECT),
        (moved("http://10.0.0.1/robots.txt"), Outcome.REDIRECT),  # the host itself is none of those
        (moved("http://127.0.0.1:2/robots.txt"), Outcome.REDIRECT),
    ],
)
def test_a_file_that_cannot_be_reached_has_no_status(reply: Reply, outcome: Outcome) -> None:
    robots, _ = had({"/robots.txt": reply})
    assert (robots.status, robots.body, robots.outcome) == (None, b"", outcome)
    assert robots.error


def chain(hops: int) -> Site:
    """A robots.txt behind so many redirects."""
    return {"/robots.txt": moved("/1"), **{f"/{hop}": moved(f"{hop + 1}") for hop in range(1, hops)}, f"/{hops}": RULES}


def test_it_follows_five_redirects_and_counts_them() -> None:
    robots, server = had(chain(5))
    assert (robots.status, robots.body, robots.requests) == (200, b"User-agent: *\nDisallow: /a\n", 6)
    assert server.paths() == ["/robots.txt", "/1", "/2", "/3", "/4", "/5"]


def test_a_file_behind_a_sixth_redirect_is_not_asked_for() -> None:
    robots, server = had(chain(6))
    assert (robots.status, robots.body, robots.requests) == (301, b"", 6)
    assert server.paths() == ["/robots.txt", "/1", "/2", "/3", "/4", "/5"]


def test_it_follows_a_redirect_to_another_host() -> None:
    with Server({"/rules": RULES}) as other:
        robots, _ = had({"/robots.txt": moved(f"{other.origin}/rules")})
    assert (robots.status, robots.requests) == (200, 2)


def test_trouble_behind_a_redirect_is_told_as_that() -> None:
    robots, _ = had({"/robots.txt": moved("http://127.0.0.1:2/x")})
    assert robots.error.startswith("it redirects to http://127.0.0.1:2/x, and there: ")


def test_it_keeps_the_beginning_of_a_large_file_and_the_sign_that_there_is_more() -> None:
    body = "Disallow: /a\n" + "#" * 600 * 1024
    robots, _ = had({"/robots.txt": page(body)}, Limits(max_body_bytes=1000))
    assert robots.status == 200
    assert robots.body == body[: MAX_BYTES + 1].encode()


def test_it_tells_its_trouble_in_time_when_the_host_never_ends() -> None:
    endless = Reply(b"HTTP/1.1 200 OK\r\n\r\nDisallow: /", Then.STALL)
    robots, _ = had({"/robots.txt": endless}, Limits(read_seconds=0.2))
    assert (robots.status, robots.outcome) == (None, Outcome.TIMEOUT)
