"""The jar of a crawl: its own hosts alone set cookies and get them."""

import time

from crawler.core.access.credentials import parse
from crawler.http.client import HttpFetcher
from crawler.http.cookies import MAX_COOKIES_PER_DOMAIN, SAME_EXPIRY_S, Cookies, redacted
from tests.http.secure import EVERY_NAME
from tests.site import Reply, Site

OWN = ("https://example.com", "https://*.example.com", "http://example.com")


def jar(url: str = "https://example.com/in/here", *headers: str) -> Cookies:
    cookies = Cookies(OWN)
    cookies.note(url, headers)
    return cookies


def test_a_cookie_goes_to_its_host_and_path_and_by_tls_if_it_says_so() -> None:
    cookies = jar("https://example.com/in/here", "a=1; Path=/", "b=2", "c=3; Path=/; Secure", "d=4; Path=/x")
    assert cookies.pairs("https://example.com/") == ["a=1", "c=3"]
    assert cookies.pairs("https://example.com/in/x") == ["b=2", "a=1", "c=3"]
    assert cookies.pairs("http://example.com/") == ["a=1"]
    assert cookies.pairs("https://www.example.com/") == []


def test_a_cookie_of_the_domain_goes_to_hosts_below_it_that_are_the_crawls_own() -> None:
    cookies = jar("https://example.com/", "a=1; Domain=example.com")
    assert cookies.pairs("https://shop.example.com/") == ["a=1"]
    alone = Cookies(["https://example.com"])
    alone.note("https://example.com/", ["a=1; Domain=example.com"])
    assert alone.pairs("https://example.com/") == ["a=1"]
    assert alone.pairs("https://shop.example.com/") == []


def test_no_other_host_sets_one_or_gets_one() -> None:
    cookies = jar("https://evil.test/", "a=1", "b=2; Domain=example.com")
    assert cookies.dumped() == b"[]"
    cookies = jar("https://example.com/", "a=1; Domain=com", "b=2; Domain=other.example", "c=3")
    assert cookies.pairs("https://example.com/") == ["c=3"]
    assert cookies.pairs("https://other.example/") == []


def test_a_cookie_ends_when_the_server_says_so() -> None:
    cookies = jar("https://example.com/", "a=1", "b=2")
    cookies.note("https://example.com/", ["a=; Max-Age=0"])
    assert cookies.pairs("https://example.com/") == ["b=2"]


def test_it_keeps_so_many_of_a_host_and_those_it_has_may_change() -> None:
    cookies = jar("https://example.com/", *(f"c{number}=old" for number in range(MAX_COOKIES_PER_DOMAIN + 5)))
    cookies.note("https://example.com/", ["c1=new", f"big={'x' * 5000}"])
    pairs = cookies.pairs("https://example.com/")
    assert len(pairs) == MAX_COOKIES_PER_DOMAIN
    assert "c1=new" in pairs


def test_only_what_changes_is_to_be_stored() -> None:
    age = 900 - int(time.time()) % SAME_EXPIRY_S + SAME_EXPIRY_S // 2  # expires in the middle of a minute
    cookies = jar("https://example.com/", f"a=1; Max-Age={age}")
    stored = Cookies(OWN)
    stored.load(cookies.dumped())
    stored.note("https://example.com/", [f"a=1; Max-Age={age + 1}"])
    assert stored.received == []
    stored.note("https://example.com/", [f"a=2; Max-Age={age}"])
    assert stored.received == [("https://example.com/", [f"a=2; Max-Age={age}"])]


def test_the_headers_of_a_response_show_no_value() -> None:
    head = "Server: x\nset-cookie: sid=secret; Path=/\nX: set-cookie"
    assert redacted(head) == "Server: x\nset-cookie: sid=…\nX: set-cookie"


def test_requests_send_them_in_place_of_typed_ones_and_without_credentials_none() -> None:
    site = Site({"/": Reply("<p>", headers={"Set-Cookie": "sid=new"}), "/a": "<p>"})
    typed = parse(cookies=["sid=typed; lang=de"])
    with site.serving(), HttpFetcher(EVERY_NAME, "Tester/1", credentials=typed, own_hosts=[site.url]) as fetcher:
        fetcher.use_cookies(Cookies([site.url]))
        first = fetcher.get(f"{site.url}/")
        fetcher.get(f"{site.url}/a")
        fetcher.get(f"{site.url}/a", anonymous=True)
    assert [request.headers.get("Cookie") for request in site.requests] == [
        "sid=typed; lang=de",
        "lang=de; sid=new",
        None,
    ]
    assert "sid=…" in first.headers
    assert "new" not in first.headers
