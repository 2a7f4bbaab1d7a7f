"""The normal form of a URL, against the web-platform suites, by table and by property."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import (
    MAX_URL_LENGTH,
    host_and_port,
    host_in_browser,
    host_of,
    href_of,
    key_of,
    linker,
    normalise,
    origin_of,
    parse_user_url,
    resolve,
    site_of,
)
from tests.suites import cases

PAGE = "https://example.com/a/b?c=d"

# Text made of what URLs are made of, so that examples get past the parser and into the corners.
PARTS = ("http:", "https:", "mailto:", "//", "user", "@", "example.com", "EXAMPLE.com", "xn--", "[::1]", "0x7f.1")
DELIMITERS = (":", "443", "80", "/", "\\", ".", "..", "?", "#", "&", "=", "+", ";", " ", "\t")
ENCODINGS = ("%", "%2", "%2e", "%2E", "65", "%41", "%7e", "%c3%a9", "%00", "%25", "%%", "a", "A", "f")
ODDITIES = ("é", "\x00", "\ud800", "\udfff", "\uffff", "\u00ad")
PIECES = st.sampled_from([*PARTS, *DELIMITERS, *ENCODINGS, *ODDITIES])
PATH_PIECES = (
    "../",
    "!$&()*+,;=@",
    "q:?",
    "'",
    "|[]^`{}\\",
    "./",
    "..",
    ".",
    "/",
    "//",
    "a",
    "b.html",
    "c-d_e~",
    ".hidden",
    "x..y",
    "?",
    "q=1&r",
    "#",
    "%7e",
    "é",
)
HOST_PIECES = (
    "a",
    "b-c",
    "xn--",
    "xn--a",
    ".",
    "-",
    "1",
    "0x1",
    "0x",
    "_",
    "A",
    ":80",
    "@",
    "com",
    "\u00e9",
    "%61",
    "[",
    "/",
)
FOLDERS = (
    "http://a.b/",
    "https://a.b/c/d/e.html?f",
    "http://a.b:81/c//d/",
    "http://a.b/%20/c%2Fd/e..",
    "http://[::1]//",
)
URLISH = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))
PATHISH = st.lists(PIECES, max_size=12).map(lambda pieces: "https://example.com/" + "".join(pieces))


def test_it_resolves_as_the_url_standard_says() -> None:
    assert [case for case in cases("url_whatwg") if resolve(case["input"], case["base"]) != case.get("href")] == []


def test_it_writes_international_hosts_as_the_url_standard_says() -> None:
    hosts = {case["input"]: case["output"] for case in cases("idna_toascii")}
    urls = {typed: host and f"https://{host}/x" for typed, host in hosts.items()}
    assert {typed: resolve(f"https://{typed}/x") for typed in hosts} == urls


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", PAGE),  # the page itself
        ("#part", PAGE),
        ("?", "https://example.com/a/b"),  # an empty query says no more than none
        ("?#part", "https://example.com/a/b"),
        ("??", "https://example.com/a/b??"),  # a query of "?"
        ("?q?", "https://example.com/a/b?q?"),
        ("../x", "https://example.com/x"),
        ("%2e%2E/x", "https://example.com/x"),  # an encoded dot segment is one
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("//other.org", "https://other.org/"),
        ("http://user:secret@example.com/x@y", "http://example.com/x@y"),
        ("http://user@example.com:81?a@b", "http://example.com:81/?a@b"),
        ("/@user", "https://example.com/@user"),
        ("/%7euser/%41%2d%5f", "https://example.com/~user/A-_"),  # unreserved: decoded
        ("/%e9%2f%3f?%26%3d", "https://example.com/%E9%2F%3F?%26%3D"),  # reserved: told apart from "/", "?", "&", "="
        ("/%2%65", "https://example.com/%2%65"),  # decoding it would make a dot
        ("/%%41", "https://example.com/%%41"),
        ("/100%/%zz", "https://example.com/100%/%zz"),  # a "%" that stands for itself
        ("/é?é", "https://example.com/%C3%A9?%C3%A9"),
        ("/a//b///c", "https://example.com/a//b///c"),
        ("?b=2&a=1&b=2", "https://example.com/a/b?b=2&a=1&b=2"),
        (" /x\n", "https://example.com/x"),
        ("/\x00x", "https://example.com/%00x"),
        ("/\ud800", "https://example.com/%EF%BF%BD"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]/", "http://[::1]/"),
        ("http://MÜNCHEN.de/", "http://xn--mnchen-3ya.de/"),
        ("mailto:a@example.com", None),
        ("javascript:void(0)", None),
        ("data:text/html,x", None),
        ("ftp://example.com/", None),
        ("http://", None),
        ("http://a b/", None),
        ("http://[::1", None),
        ("http://example.com:99999/", None),
    ],
)
def test_it_has_one_normal_form(reference: str, expected: str | None) -> None:
    assert normalise(reference, PAGE) == expected


def test_a_relative_reference_needs_a_base() -> None:
    assert normalise("/x") is None
    assert normalise("/x", "not a base") is None


def test_a_url_beyond_the_longest_is_no_page() -> None:
    longest = "https://example.com/".ljust(MAX_URL_LENGTH, "x")
    assert normalise(longest + "#part") == longest
    assert normalise(longest + "x") is None


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("https://example.com/a/b", "example.com", "https://example.com"),
        ("http://example.com:8080/?x=//y/", "example.com:8080", "http://example.com:8080"),
        ("http://[::1]:8000/", "[::1]:8000", "http://[::1]:8000"),
        ("http://a/", "a", "http://a"),
    ],
)
def test_it_names_host_and_origin(url: str, host: str, origin: str) -> None:
    assert (host_of(url), origin_of(url)) == (host, origin)


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.example.com", "example.com"),
        ("example.com", "example.com"),
        ("www.example.com:8080", "example.com:8080"),
        ("www.www.example.com", "www.example.com"),
        ("www2.example.com", "www2.example.com"),
        ("www.com", "www.com"),  # a name of its own, not all of .com
        ("www.localhost:8000", "www.localhost:8000"),
    ],
)
def test_www_names_the_same_site(host: str, site: str) -> None:
    assert site_of(host) == site


def test_a_key_is_sixteen_bytes_and_tells_pages_apart() -> None:
    assert len(key_of("https://example.com/")) == 16
    assert key_of("https://example.com/") == key_of("https://example.com/")
    assert key_of("https://example.com/") != key_of("http://example.com/")


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("https://example.com", "https://example.com/"),
        ("  https://example.com/a b \n", "https://example.com/a%20b"),
        ("HTTP://Example.COM/#top", "http://example.com/"),
        ("http:example.com", "http://example.com/"),
        ("//example.com/docs", "https://example.com/docs"),
        ("example.com/docs", "https://example.com/docs"),
        ("example.com?q=a@b", "https://example.com/?q=a@b"),
        ("münchen.de", "https://xn--mnchen-3ya.de/"),
        ("example.com:8443/x", "https://example.com:8443/x"),
        ("example.com:443", "https://example.com/"),
        ("example.com:8080/x", "http://example.com:8080/x"),
        ("localhost", "http://localhost/"),
        ("localhost:8000", "http://localhost:8000/"),
        ("shop.localhost/x", "http://shop.localhost/x"),
        ("intranet:8000", "http://intranet:8000/"),
        ("127.0.0.1:8000/x", "http://127.0.0.1:8000/x"),
        ("[::1]", "http://[::1]/"),
        ("[::1]:8000/x", "http://[::1]:8000/x"),
    ],
)
def test_it_takes_a_start_url_as_people_type_it(typed: str, url: str) -> None:
    assert parse_user_url(typed) == url


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "A web address is missing"),
        (" \n", "A web address is missing"),
        ("ftp://example.com/", "Only http and https can be crawled, not ftp"),
        ("mailto:someone@example.com", "not mailto"),
        ("javascript:alert(1)", "not javascript"),
        ("file:///etc/passwd", "not file"),
        ("http://", "has no host"),
        ("https:", "has no host"),
        ("not a url", "is not a web address"),
        ("example", "is not a web address"),
        ("/docs", "is not a web address"),
        ("?q=example.com", "is not a web address"),
        ("two words.com", "is not a web address"),
        ("..", "is not a web address"),
        ("http://exa mple.com/", "check the host name"),
        ("http://[::1", "check the host name"),
        ("http://example.com:99999", "check the host name"),
        ("999.999.999.999", "check the host name"),
        ("someone@example.com", "looks like an e-mail address"),
        ("https://a.example\nhttps://b.example", "one web address at a time"),
        ("https://example.com/" + "x" * MAX_URL_LENGTH, "is longer than"),
    ],
)
def test_it_says_what_is_wrong_with_a_start_url(typed: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_user_url(typed)
    assert refused.value.field == "start_urls"
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250


@given(URLISH, PATHISH, PATHISH)
def test_a_link_that_is_looked_up_is_what_it_would_be_resolved_to(reference: str, page: str, other: str) -> None:
    bases = [base for base in (normalise(page), normalise(other), PAGE) if base]
    assert [linker(base)(reference) for base in bases] == [normalise(reference, base) for base in bases]


@given(st.lists(st.sampled_from(PATH_PIECES), max_size=8).map("".join), st.sampled_from(FOLDERS))
def test_a_plain_path_is_joined_as_the_url_standard_says(reference: str, base: str) -> None:
    assert linker(base)(reference) == normalise(reference, base)


@given(
    st.sampled_from(["http://", "https://"]),
    st.lists(st.sampled_from(HOST_PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(PATH_PIECES), max_size=8).map("".join),
    st.sampled_from(FOLDERS),
)
def test_a_plain_url_is_what_the_url_standard_says(scheme: str, host: str, path: str, base: str) -> None:
    for reference in (f"{scheme}{host}{path}", f"{scheme}{host}/{path}", f"{scheme}{host}.com/{path}"):
        assert linker(base)(reference) == normalise(reference, base)


def test_links_of_the_suites_are_what_they_would_be_resolved_to() -> None:
    references = [case["input"] for case in cases("url_whatwg")]
    references += [f"http://{case['input']}/" for case in cases("idna_toascii")]
    bases = [page for case in cases("url_whatwg") if case["base"] and (page := normalise(case["base"]))]
    for base in (*dict.fromkeys(bases), *FOLDERS):
        link = linker(base)
        assert [link(reference) for reference in references] == [normalise(reference, base) for reference in references]


def test_a_full_cache_of_links_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.core.urls.normalise.MAX_CACHED_LINKS", 100)
    pages = [f"https://example.com/{number % 7}/" for number in range(50)]
    targets = [
        linker(page)(f"../full/{number % 30}/{place}") for number, page in enumerate(pages) for place in range(5)
    ]
    assert targets == [f"https://example.com/full/{number % 30}/{place}" for number in range(50) for place in range(5)]
    tracemalloc.start()
    for number in range(20_000):
        linker(f"https://example.com/{number}/")(f"{number}/")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


@pytest.mark.parametrize("reference", ["", "?x", "#", "http:", "http:?x", "ht\ntp:?x", " ?x", "http:?a://b", "https:x"])
def test_a_link_that_depends_on_more_than_the_folder_is_not_looked_up(reference: str) -> None:
    bases = ["http://a.b/c/d?e", "http://a.b/c/f"]
    assert [linker(base)(reference) for base in bases] == [normalise(reference, base) for base in bases]


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://example.com/", "example.com", 80),
        ("https://example.com/", "example.com", 443),
        ("https://example.com:8443/a", "example.com", 8443),
        ("http://example.com:0/", "example.com", 0),  # not the usual one
        ("http://[::1]:8000/", "::1", 8000),
        ("http://[::1]/", "::1", 80),
    ],
)
def test_it_says_whom_an_address_means(url: str, host: str, port: int) -> None:
    assert host_and_port(url) == (host, port)


@pytest.mark.parametrize("url", ["http://example.com:99999/", "http://[bad/", "http://example.com:x/"])
def test_an_address_that_means_nobody_is_a_value_error(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        host_and_port(url)


@pytest.mark.parametrize(
    "url", ["http://a.test/", "https://a.test/", "https://a.test:8443/x", "http://a.test:443/", "http://[::1]:8000/"]
)
def test_a_browser_has_the_hosts_of_the_crawl(url: str) -> None:
    name, port = host_in_browser(url)
    bracketed = f"[{name}]" if ":" in name else name
    assert host_of(url) == (bracketed if port is None else f"{bracketed}:{port}")


@pytest.mark.parametrize(
    ("socket", "url"),
    [
        ("ws://a.test/x", "http://a.test/"),
        ("wss://a.test/x", "https://a.test/"),
        ("wss://a.test:443/x", "http://a.test:80/"),
        ("ws://a.test:8443/x", "https://a.test:8443/"),
    ],
)
def test_a_web_socket_goes_to_the_host_of_the_pages_beside_it(socket: str, url: str) -> None:
    assert host_in_browser(socket) == host_in_browser(url)


def test_long_links_are_not_kept_at_hand() -> None:
    tracemalloc.start()
    link, deep = linker("https://example.com/a/"), linker(f"https://example.com/{'d' * 3000}/")
    for number in range(40):
        assert link(f"{number}{'x' * 500_000}") is None
        assert deep(f"{number}") == f"https://example.com/{'d' * 3000}/{number}"
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000


def test_a_url_far_too_long_is_not_decoded_first() -> None:
    assert normalise("http://example.com/" + "%61" * 4000) == "http://example.com/" + "a" * 4000
    assert normalise("http://example.com/" + "%61" * 4090) is None
    assert normalise("http://example.com/" + "%61" * 400_000) is None


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "ftp://site.test/", "//site.test/", ""])
def test_only_web_addresses_become_links(url: str) -> None:
    assert href_of(url) == ""
    assert href_of("https://site.test/a") == "https://site.test/a"
