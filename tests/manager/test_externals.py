"""Links that leave the site are asked for once, with as little as tells whether they lead anywhere."""

from collections.abc import Mapping

import pytest

from crawler import encryption
from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import EXTERNAL
from crawler.crawls.start import start_crawl
from crawler.fetcher.page import needs_get
from crawler.http.fetcher import FetchResult
from crawler.models import Page
from tests.bench import Bench
from tests.http.server import Reply, Server, Then
from tests.http.server import page as reply
from tests.site import page

ROBOTS = reply("User-agent: *\nDisallow: /forbidden", content_type="text/plain")


def checked(bench: Bench, site: Mapping[str, Reply | tuple[Reply, ...]], *paths: str, **options: object) -> Server:
    """The server of another site, after a crawl whose one page links to these paths on it."""
    with Server({"/robots.txt": ROBOTS, **site}) as other:
        bench.site.pages["/"] = page(*(other.origin + path for path in paths))
        bench.run(externals="check", **options)
    assert bench.state() == "finished"
    return other


def asked(other: Server) -> list[str]:
    """Method and path of what was asked for, robots.txt aside."""
    lines = [head.splitlines()[0].rsplit(" ", 1)[0] for head in other.requests]
    return [line for line in lines if not line.endswith("/robots.txt")]


def row(path: str) -> Page:
    return Page.objects.get(url__endswith=path)


def test_the_head_of_a_good_link_is_enough(bench: Bench) -> None:
    other = checked(bench, {"/good": reply("", content_length="100000")}, "/good")
    assert asked(other) == ["HEAD /good"]
    assert (row("/good").kind, row("/good").outcome, row("/good").http_status) == (EXTERNAL, "2xx", 200)


def test_a_link_that_moved_is_reported_and_not_followed(bench: Bench) -> None:
    other = checked(bench, {"/old": reply("", "301 Moved", location="/new")}, "/old")
    assert asked(other)[0] == "HEAD /old"
    assert row("/old").http_status == 301


@pytest.mark.parametrize("refusal", [reply("", "405 Not Allowed"), reply("", "404 Not Found")])
def test_a_server_that_does_not_answer_to_head_is_asked_with_get(bench: Bench, refusal: Reply) -> None:
    other = checked(bench, {"/good": (refusal, reply("<a href='/further'>"))}, "/good")
    assert asked(other) == ["HEAD /good", "GET /good"]
    assert (row("/good").outcome, row("/good").http_status) == ("2xx", 200)
    assert not Page.objects.filter(url__endswith="/further").exists()


def test_a_server_that_hangs_up_on_head_is_asked_with_get(bench: Bench) -> None:
    hangs_up = Reply(then=Then.CLOSE)  # once for the connection kept since robots.txt, which may just have been old
    other = checked(bench, {"/good": (hangs_up, hangs_up, reply())}, "/good")
    assert asked(other) == ["HEAD /good", "HEAD /good", "GET /good"]
    assert row("/good").outcome == "2xx"


def test_a_broken_link_is_what_get_says(bench: Bench) -> None:
    other = checked(bench, {}, "/gone")
    assert asked(other) == ["HEAD /gone", "GET /gone"]
    assert (row("/gone").outcome, row("/gone").http_status) == ("4xx", 404)


def test_both_requests_are_counted_and_keep_the_delay_of_the_host(bench: Bench) -> None:
    other = checked(bench, {"/good": (reply("", "405 Not Allowed"), reply())}, "/good", delay=0.3)
    assert asked(other) == ["HEAD /good", "GET /good"]
    bench.crawl.refresh_from_db()
    assert bench.crawl.requests == len(bench.site.requests) + len(other.requests)


def test_a_host_that_is_asked_seldom_is_not_asked_twice(bench: Bench) -> None:
    other = checked(bench, {"/good": reply()}, "/good", delay=1.5, obey_robots=False)
    assert asked(other) == ["GET /good"]


def test_its_robots_txt_is_obeyed(bench: Bench) -> None:
    other = checked(bench, {"/forbidden": reply()}, "/forbidden")
    assert asked(other) == []
    assert row("/forbidden").outcome == "robots"


def test_no_credentials_go_along(bench: Bench) -> None:
    sealed = encryption.seal(parse(headers=["X-Key: hidden"], auth="user:hidden"))
    with Server({"/good": (reply("", "405 Not Allowed"), reply())}) as other:
        bench.site.pages["/"] = page(f"{other.origin}/good")
        options = CrawlOptions(externals="check")
        bench.crawl = start_crawl([bench.site.url], options, allow_private=True, sealed=sealed)
        bench.work()
    assert asked(other) == ["HEAD /good", "GET /good"]
    assert not [head for head in other.requests if "X-Key" in head or "Authorization" in head]


@pytest.mark.parametrize(
    ("head", "needed"),
    [
        (FetchResult(outcome=Outcome.SUCCESS, http_status=200, requests=1), False),
        (FetchResult(outcome=Outcome.REDIRECT, http_status=301, requests=1), False),
        (FetchResult(outcome=Outcome.CLIENT_ERROR, http_status=404, requests=1), True),
        (FetchResult(outcome=Outcome.CLIENT_ERROR, http_status=429, requests=1), False),  # it asks to be left alone
        (FetchResult(outcome=Outcome.SERVER_ERROR, http_status=501, requests=1), True),
        (FetchResult(outcome=Outcome.SERVER_ERROR, http_status=503, requests=1), False),
        (FetchResult(outcome=Outcome.MALFORMED, http_status=999, requests=1), True),
        (FetchResult(outcome=Outcome.TIMEOUT, requests=1), True),
        (FetchResult(outcome=Outcome.DNS), False),  # nothing was sent, and nothing can be
        (FetchResult(outcome=Outcome.PRIVATE_ADDRESS), False),
    ],
)
def test_when_get_may_do_better(head: FetchResult, needed: bool) -> None:
    assert needs_get(head) is needed
