"""What stands between workers and a site: a proxy, a certificate that is not trusted, a group of robots.txt."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command

from tests.http.certificates import self_signed
from tests.http.server import Server
from tests.http.server import page as served
from tests.http.socks_server import SocksServer
from tests.site import Reply, Site, page
from tests.stack import Stack

WORKERS = 2
PAGES = {"/": page("/a", "/b"), "/a": page(), "/b": page()}
CRAWL = ("python", "manage.py", "crawl", "--allow-private", "--json")
ROBOTS = """\
User-agent: KettleBot
Disallow: /for-others/

User-agent: *
Disallow: /for-kettles/
"""


def test_without_its_password_the_site_gets_no_request(crew: Stack) -> None:
    def refused() -> list[dict[str, Any]]:
        return crew.rows("SELECT crawl_id FROM crawler_page WHERE error LIKE '%asks for a user and password%'")

    with Site(PAGES).serving() as site, SocksServer(login="user:right") as proxy:
        crew.spawn(*CRAWL, site.url, "--ignore-robots", "--proxy", f"socks5://127.0.0.1:{proxy.port}")
        crew.wait_for(lambda: bool(refused()))
        assert (site.requests, proxy.targets) == ([], [])
        crew.within(lambda: call_command("cancel", str(UUID(refused()[0]["crawl_id"]))))


def test_each_page_says_why_its_certificate_was_not_trusted(crew: Stack, tmp_path: Path) -> None:
    links = '<a href="/a">a</a><a href="/b">b</a>'
    pages = {"/": served(links), "/a": served(), "/b": served()}
    with Server(pages, tls=self_signed(tmp_path)) as server:
        url = f"https://127.0.0.1:{server.port}/"
        ignoring = crew.start(url, ignore_tls_errors=True, obey_robots=False)
        verifying = crew.start(url, obey_robots=False)
        assert crew.wait_until_finished(ignoring)["fetched"] == len(pages)
        crew.wait_until_finished(verifying)
    assert [row["outcome"] for row in crew.pages(verifying).values()] == ["tls"]
    noted = crew.rows("SELECT certificate_error FROM crawler_pagefacts WHERE crawl_id = ?", ignoring.hex)
    assert len(noted) == len(pages)
    assert all("certificate" in row["certificate_error"] for row in noted), noted


@pytest.mark.parametrize(
    ("user_agent", "forbidden", "allowed"),
    [
        ("KettleBot/2.0 (+https://example.com/bot)", "/for-others/1", "/for-kettles/1"),
        ("TeapotBot/1.0 (+https://example.com/bot)", "/for-kettles/1", "/for-others/1"),
    ],
)
def test_the_user_agent_selects_the_group_of_robots_txt(
    crew: Stack, user_agent: str, forbidden: str, allowed: str
) -> None:
    pages = {"/": page(forbidden, allowed), forbidden: page(), allowed: page()}
    robots = Reply(ROBOTS, headers={"Content-Type": "text/plain"})
    with Site(pages | {"/robots.txt": robots}).serving() as site:
        crawl = crew.start(f"{site.url}/", user_agent=user_agent)
        receipt = crew.wait_until_finished(crawl)
        found = {url.removeprefix(site.url): row["outcome"] for url, row in crew.pages(crawl).items()}
    assert found == {"/": "2xx", forbidden: "robots", allowed: "2xx"}
    assert receipt["skipped"] == {"robots": 1}
    assert set(site.hits) == {"/robots.txt", "/", allowed}
    assert {request.headers["User-Agent"] for request in site.requests} == {user_agent}
