"""Trying rules on one page, from the form."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.accounts.slow_calls import slow_call
from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import seal
from crawler.models import Crawl
from tests.factories import a_crawl
from tests.site import Reply, Site, moved

URL = "/extraction/preview"
PAGES = {
    "/": "<h1>A <b>kettle</b> &lt;script&gt;alert(1)&lt;/script&gt;</h1><i>12,50</i><i>x</i>",
    "/moved": moved("/"),
    "/closed": "<h1>no</h1>",
    "/text": Reply("words", headers={"Content-Type": "text/plain"}),
    "/robots.txt": Reply("User-agent: *\nDisallow: /closed\n", headers={"Content-Type": "text/plain"}),
}
RULES = "heading: h1\nprice: {selector: i, type: number}\nnone: h6"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(PAGES).serving() as site:
        yield site


def tried(browser: Client, site: Site, path: str = "/", **typed: Any) -> tuple[int, str]:
    data = {"start_urls": f"{site.url}{path}", "rules": RULES, "allow_private": "on", **typed}
    response = browser.post(URL, data)
    return response.status_code, response.content.decode()


def test_it_shows_what_each_rule_finds_and_runs_none_of_it(as_root: Client, site: Site) -> None:
    status, html = tried(as_root, site)
    assert status == 200
    assert "A kettle &lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "12.5" in html
    assert "nothing matches the selector" in html
    assert not Crawl.objects.exists()


def test_it_asks_for_the_page_that_is_named_beside_the_rules_and_follows_redirects(as_root: Client, site: Site) -> None:
    _, html = tried(as_root, site, try_url=f"{site.url}/moved")
    assert "A kettle" in html
    assert site.hits == {"/robots.txt": 2, "/moved": 1, "/": 1}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/closed", "robots.txt does not allow it"),
        ("/text", "it is not an HTML page but text/plain"),
        ("/nowhere", "the server returned 404"),
    ],
)
def test_a_page_that_cannot_be_tried_is_told(as_root: Client, site: Site, path: str, said: str) -> None:
    status, html = tried(as_root, site, path)
    assert (status, said in html) == (200, True)


def test_robots_txt_can_be_passed_over_as_a_crawl_would(as_root: Client, site: Site) -> None:
    assert "no</td>" in tried(as_root, site, "/closed", obey_robots="off")[1]
    assert site.hits == {"/closed": 1}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"rules": "a: h1["}, "Rule 1"),
        ({"rules": ""}, "Write at least one rule"),
        ({"start_urls": ""}, "Type the address of a page"),
        ({"delay": "x"}, "Delay must be a number"),
    ],
)
def test_what_is_to_be_put_right_first_is_told_and_nothing_asked_for(
    as_root: Client, site: Site, typed: dict[str, str], said: str
) -> None:
    status, html = tried(as_root, site, **typed)
    assert (status, said in html) == (400, True)
    assert site.requests == []


def test_private_addresses_are_for_those_who_may_crawl_them(as_ann: Client, site: Site) -> None:
    status, html = tried(as_ann, site)
    assert (status, "is refused" in html) == (400, True)
    assert site.requests == []


def test_credentials_go_where_the_crawl_would_send_them_and_nowhere_else(as_root: Client, root: User) -> None:
    with Site(PAGES).serving() as own, Site(PAGES).serving() as other:
        secrets = {"headers": "X-Key: hush"}
        tried(as_root, own, **secrets)
        assert own.requests[-1].headers["X-Key"] == "hush"
        tried(as_root, own, try_url=other.url, **secrets)
        like = a_crawl(root, start_urls=[own.url], options=CrawlOptions(), sealed=seal(parse(headers=["X-Key: hush"])))
        again = {"again": str(like.id), "same_credentials": "on", "start_urls": "", "try_url": other.url}
        tried(as_root, own, **again)
        assert other.requests
        assert not any("X-Key" in request.headers for request in other.requests)


def test_the_form_has_the_button(as_ann: Client) -> None:
    assert f'formaction="{URL}"' in as_ann.get("/").content.decode()


def test_a_user_tries_rules_once_at_a_time(as_root: Client, root: User, site: Site) -> None:
    with slow_call(root.pk):
        status, html = tried(as_root, site)
    assert status == 429
    assert "Your last preview or test is still in progress" in html
    assert site.requests == []
