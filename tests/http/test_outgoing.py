"""Request headers: credentials go to the crawl's own hosts only."""

import pytest

from crawler.core.access.credentials import Credentials, parse
from crawler.http.client import HttpFetcher
from crawler.http.robots import fetch_robots
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Server, page

KNOWN = parse(headers=["X-Key: hidden", "Accept-Language: de"], cookies=["session=hidden"], auth="user:hidden")


def fetcher_for(*own: str, known: Credentials = KNOWN) -> HttpFetcher:
    return HttpFetcher(EVERY_NAME, "Tester/1", credentials=known, own_hosts=own, trust=trusting_the_test)


def sent(server: Server, request: int = -1) -> dict[str, str]:
    lines = server.requests[request].splitlines()[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def is_public(head: dict[str, str]) -> bool:
    return not {"x-key", "accept-language", "cookie", "authorization"} & head.keys() and "hidden" not in str(head)


def test_they_are_sent_to_the_crawls_own_host_beside_what_everybody_is_told() -> None:
    with Server({"/": page()}) as server, fetcher_for(f"http://site.test:{server.port}") as fetcher:
        fetcher.get(f"http://site.test:{server.port}/")
        head = sent(server)
    assert (head["x-key"], head["accept-language"], head["cookie"]) == ("hidden", "de", "session=hidden")
    assert head["authorization"] == "Basic dXNlcjpoaWRkZW4="
    assert (head["user-agent"], head["host"]) == ("Tester/1", f"site.test:{server.port}")
    assert head["accept-encoding"] == "gzip, deflate, br, zstd"


def test_a_header_of_ones_own_stands_in_place_of_the_usual_one() -> None:
    known = parse(headers=["user-agent: Mine", "ACCEPT: application/json"])
    with Server({"/": page()}) as server, fetcher_for(f"http://site.test:{server.port}", known=known) as fetcher:
        fetcher.get(f"http://site.test:{server.port}/")
    lowered = server.requests[0].lower()
    assert "user-agent: mine" in lowered
    assert "accept: application/json" in lowered
    assert (lowered.count("user-agent:"), lowered.count("accept:")) == (1, 1)


@pytest.mark.parametrize("host", ["other.test", "site.test.evil.test", "sub.site.test"])
def test_no_other_host_is_sent_any(host: str) -> None:
    with Server({"/": page()}) as server, fetcher_for(f"http://site.test:{server.port}") as fetcher:
        fetcher.get(f"http://site.test:{server.port}/")
        fetcher.get(f"http://{host}:{server.port}/")
    assert [is_public(sent(server, number)) for number in (0, 1)] == [False, True]


def test_another_port_is_another_host() -> None:
    with Server({"/": page()}) as other, fetcher_for(f"http://site.test:{other.port + 1}") as fetcher:
        fetcher.get(f"http://site.test:{other.port}/")
    assert is_public(sent(other))


def test_what_began_encrypted_does_not_go_on_in_clear_text() -> None:
    with Server({"/": page()}) as clear, Server({"/": page()}, tls=as_site_test()) as secure:
        own = (f"https://site.test:{secure.port}", f"https://site.test:{clear.port}")
        with fetcher_for(*own) as fetcher:
            fetcher.get(f"https://site.test:{secure.port}/")
            fetcher.get(f"http://site.test:{clear.port}/")
    assert (is_public(sent(secure)), is_public(sent(clear))) == (False, True)


def test_an_anonymous_request_carries_none_even_to_its_own_host() -> None:
    with Server({"/": page()}) as server, fetcher_for(f"http://site.test:{server.port}") as fetcher:
        fetcher.get(f"http://site.test:{server.port}/", anonymous=True)
        fetcher.head(f"http://site.test:{server.port}/", anonymous=True)
        fetcher.post(f"http://site.test:{server.port}/", b"x", {})
        assert [is_public(sent(server, number)) for number in range(3)] == [True] * 3
        fetcher.head(f"http://site.test:{server.port}/")
        assert not is_public(sent(server))


def test_robots_txt_is_asked_for_without_any_wherever_it_leads() -> None:
    with Server({"/robots.txt": page("Disallow:")}) as other:
        moved = page("", "302 Found", location=f"http://other.test:{other.port}/robots.txt")
        with Server({"/robots.txt": moved}) as server, fetcher_for(f"http://site.test:{server.port}") as fetcher:
            found = fetch_robots(fetcher, f"http://site.test:{server.port}")
    assert (found.status, found.requests) == (200, 2)
    assert (is_public(sent(server)), is_public(sent(other))) == (True, True)
