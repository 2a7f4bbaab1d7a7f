"""What is sent beside the URL, as people type it and as it is shown; and which hosts may be sent it."""

import base64
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.access.credentials import (
    _ATTRIBUTES,
    _OURS,
    NOTHING,
    from_json,
    is_own,
    mask,
    masked,
    own_hosts,
    parse,
    request_headers,
    to_json,
)
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.urls.crawl_scope import Scope

FORBIDDEN = {*_OURS, *_ATTRIBUTES, "authorization"}
TOKEN = "abcdefghijklmnopqrstuvwxyz012345"


def test_everything_people_type_goes_out() -> None:
    typed = parse(
        headers=["X-Key: abc", "Accept-Language:de, en;q=0.5", ""],
        cookies=["session=1", "a=1; b=x=y ;", 'c="quoted"'],
        auth="Aladdin:open sesame",
        proxy="user:pw@proxy.test:3128",
    )
    assert request_headers(typed) == {
        "X-Key": "abc",
        "Accept-Language": "de, en;q=0.5",
        "Cookie": 'session=1; a=1; b=x=y; c="quoted"',
        "Authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    }
    assert typed.proxy == "http://user:pw@proxy.test:3128"


def test_a_bearer_token_goes_out() -> None:
    assert request_headers(parse(bearer=f" {TOKEN}\n")) == {"Authorization": f"Bearer {TOKEN}"}


def test_a_header_of_ones_own_may_authorize() -> None:
    assert request_headers(parse(headers=["authorization: Token abc"])) == {"authorization": "Token abc"}


def test_a_password_is_sent_as_utf_8() -> None:
    assert request_headers(parse(auth="test:123£")) == {"Authorization": "Basic dGVzdDoxMjPCow=="}  # RFC 7617, 2.1
    assert parse(auth="user:a:b").basic == ("user", "a:b")
    assert parse(auth="user:").basic == ("user", "")


def test_nothing_typed_is_nothing() -> None:
    assert parse(headers=[" "], cookies=[";"], auth="", bearer=" ", proxy=" ") == NOTHING
    assert not NOTHING
    assert parse(bearer="x")


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"headers": ["hidden"]}, "headers", "Enter each header as 'Name: value'"),
    ({"headers": [": hidden"]}, "headers", "Enter each header as 'Name: value'"),
    ({"headers": ["X Key: hidden"]}, "headers", "Enter each header as 'Name: value'"),
    ({"headers": ["X-K\r\ney: hidden"]}, "headers", "Enter each header as 'Name: value'"),
    ({"headers": ["X-Key: hidden\r\nHost: evil"]}, "headers", "line break"),
    ({"headers": ["X-Key: hidden\n"]}, "headers", "line break"),
    ({"headers": ["X-Key: hid\0den"]}, "headers", "control character"),
    ({"headers": ["X-Key: hid\tden"]}, "headers", "control character"),
    ({"headers": ["X-Key: hiddenü"]}, "headers", "non-ASCII"),
    ({"headers": ["X-Key: hidden", "x-key: two"]}, "headers", "more than once"),
    ({"headers": ["cookie: a=hidden"]}, "headers", "as name=value"),
    ({"headers": ["Proxy-Authorization: hidden"]}, "headers", "in its address"),
    ({"headers": ["X-Key: hidden" + "x" * 16_000]}, "headers", "16,000 characters"),
    *(
        ({"headers": [f"{name}: hidden"]}, "headers", "cannot be set")
        for name in ("Host", "content-length", "CONNECTION", "Transfer-Encoding", "Accept-Encoding", "TE", "Upgrade")
    ),
    *(({"headers": [f"{name}: hidden"]}, "headers", "cannot be set") for name in ("Range", "If-None-Match", "Expect")),
    ({"cookies": ["hidden"]}, "cookies", "Enter a cookie as name=value"),
    ({"cookies": ["=hidden"]}, "cookies", "Enter a cookie as name=value"),
    ({"cookies": ["a b=hidden"]}, "cookies", "Enter a cookie as name=value"),
    ({"cookies": ["a=hidden; Path=/; HttpOnly"]}, "cookies", "Set-Cookie"),
    ({"cookies": ["a=hidden; secure"]}, "cookies", "Set-Cookie"),
    ({"cookies": ["a=hidden\r\nX: y"]}, "cookies", "line break"),
    ({"cookies": ["a=hiddenü"]}, "cookies", "non-ASCII"),
    ({"auth": "hidden"}, "auth", "user:password"),
    ({"auth": ":hidden"}, "auth", "user:password"),
    ({"auth": "user:hidden\n"}, "auth", "line breaks"),
    ({"auth": "user:hidden\udcff"}, "auth", "UTF-8"),
    ({"bearer": "Bearer hidden"}, "bearer", "without the word Bearer"),
    ({"bearer": "hid\nden"}, "bearer", "line break"),
    ({"bearer": "hiddenü"}, "bearer", "non-ASCII"),
    ({"bearer": "hidden", "auth": "user:hidden"}, "bearer", "not both"),
    ({"bearer": "hidden", "headers": ["Authorization: hidden"]}, "headers", "only one"),
    ({"auth": "user:hidden", "headers": ["authorization: hidden"]}, "headers", "only one"),
    ({"proxy": "socks4://user:hidden@proxy.test"}, "proxy", "SOCKS"),
]


@pytest.mark.parametrize(("typed", "field", "said"), REFUSED)
def test_what_cannot_be_sent_is_refused_without_repeating_it(typed: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(**typed)
    assert caught.value.field == field
    assert said in caught.value.message
    assert "hid" not in caught.value.message


def test_it_is_shown_masked() -> None:
    typed = parse(
        headers=["X-Key: abc", f"X-Long: {TOKEN}"],
        cookies=[f"session={TOKEN}; a=1"],
        auth="alice:wonderland",
        proxy="user:pw@proxy.test:3128",
    )
    assert masked(typed) == (
        "X-Key: …(3 characters)",
        "X-Long: ab…(32 characters)",
        "Cookie: session=ab…(32 characters)",
        "Cookie: a=…(1 character)",
        "Authorization: Basic alice:…(10 characters)",
        "Proxy: http://…@proxy.test:3128",
    )
    assert masked(parse(bearer=TOKEN)) == ("Authorization: Bearer ab…(32 characters)",)


def test_a_token_in_place_of_the_user_is_masked_too() -> None:
    assert masked(parse(auth=f"{TOKEN}:")) == ("Authorization: Basic ab…(32 characters):…(0 characters)",)


@pytest.mark.parametrize("show", [repr, str, lambda typed: f"{typed}", lambda typed: f"{typed!r}"])
def test_it_tells_no_secret_when_printed(show) -> None:  # type: ignore[no-untyped-def]
    typed = parse(headers=["X-Key: hidden"], cookies=["a=hidden"], auth="user:hidden", proxy="u:hidden@proxy.test")
    assert "hidden" not in show(typed)
    assert "X-Key: …(6 characters)" in show(typed)


VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40).map(str.strip)


@given(VALUES)
def test_a_mask_shows_two_characters_at_most(secret: str) -> None:
    assert mask(secret).startswith(f"{secret[:2] if len(secret) >= 12 else ''}…({len(secret)} character")


VISIBLE = "".join(map(chr, range(33, 127)))
TOKENS = st.text(string.ascii_letters + string.digits + "!#$%&'*+.^_`|~-", min_size=1, max_size=20)
NAMES = TOKENS.filter(lambda name: name.lower() not in FORBIDDEN)
WORDS = st.text(VISIBLE, min_size=1, max_size=20)
VALUES_SENT = st.lists(WORDS, max_size=3).map(" ".join)
COOKIE_VALUES = VALUES_SENT.map(lambda value: value.replace(";", ""))
BLANKS = st.sampled_from(["", " ", "  "])
SMUGGLED = st.sampled_from(
    ["\r\n", "\n", "\r", "\0", "\t", "\x0b", "\x7f", "\x85", "\u2028", "ü", "\udcff", "\r\nHost: evil\r\n"]
)
CONTROLS = st.sampled_from(["\r\n", "\n", "\r", "\0", "\t", "\x7f", "\udcff"])  # anything else may be in a password
HEADERS = st.dictionaries(NAMES, VALUES_SENT, max_size=3).filter(
    lambda pairs: len({*map(str.lower, pairs)}) == len(pairs)
)
COOKIES = st.lists(st.tuples(NAMES, COOKIE_VALUES), max_size=3)


@given(HEADERS, COOKIES, BLANKS)
def test_every_header_and_cookie_that_is_typed_well_goes_out_as_it_was_typed(
    headers: dict[str, str], cookies: list[tuple[str, str]], blank: str
) -> None:
    lines = [f"{name}{blank}:{blank}{value}{blank}" for name, value in headers.items()]
    typed = parse(headers=lines, cookies=[f"{blank};{blank}".join(f"{name}={value}" for name, value in cookies)])
    sent = {"Cookie": "; ".join(f"{name}={value.strip()}" for name, value in cookies)} if cookies else {}
    assert request_headers(typed) == headers | sent


@given(WORDS.filter(lambda user: ":" not in user), st.text(st.characters(exclude_categories=["C"])), WORDS)
def test_every_user_password_and_token_goes_out_as_it_was_typed(user: str, password: str, token: str) -> None:
    basic = request_headers(parse(auth=f"{user}:{password}"))["Authorization"]
    assert base64.b64decode(basic.removeprefix("Basic ")).decode() == f"{user}:{password}"
    assert request_headers(parse(bearer=token)) == {"Authorization": f"Bearer {token}"}


@given(NAMES, WORDS, WORDS, SMUGGLED, CONTROLS)
def test_no_line_can_be_smuggled_in(name: str, before: str, after: str, smuggled: str, control: str) -> None:
    before = before.replace(";", "").replace(":", "") or "x"
    for typed in (
        {"headers": [f"{name}: {before}{smuggled}{after}"]},
        {"headers": [f"{name}{smuggled}{name}: {before}"]},
        {"cookies": [f"{name}={before}{smuggled}{after}"]},
        {"cookies": [f"{name}{smuggled}{name}={before}"]},
        {"bearer": f"{before}{smuggled}{after}"},
        {"auth": f"{before}:{after}{control}{after}"},
        {"auth": f"{before}{control}{before}:{after}"},
    ):
        with pytest.raises(BadInput):
            parse(**typed)  # type: ignore[arg-type]


def test_several_proxies_are_typed_with_blanks_or_lines_between() -> None:
    typed = parse(proxy=" a.test:3128\nsocks5://user:hidden@b.test \t a.test:3128\r\nsocks5h://c.test ")
    assert typed.proxies == ("http://a.test:3128", "socks5://user:hidden@b.test:1080", "socks5h://c.test:1080")
    assert masked(typed) == (
        "Proxy: http://a.test:3128",
        "Proxy: socks5://…@b.test:1080",
        "Proxy: socks5h://c.test:1080",
    )
    assert from_json(to_json(typed)) == typed
    assert parse(proxy="a.test").proxies == ("http://a.test:80",)
    assert parse().proxies == ()


def test_there_are_not_too_many_proxies() -> None:
    with pytest.raises(BadInput, match="Enter at most 100 proxies, not 101"):
        parse(proxy="\n".join(f"p{number}.test" for number in range(101)))


HTTPS = ("https://example.com/",)
HTTP = ("http://example.com/",)

# start URLs, further hosts, subdomains, URL, whether it may be sent the credentials
RULES = [
    (HTTPS, (), False, "https://example.com/a?b", True),
    (HTTPS, (), False, "https://www.example.com/", True),  # one site, as for the scope
    (("https://www.example.com/",), (), False, "https://example.com/", True),
    (HTTPS, (), False, "http://example.com/", False),  # never in clear text what began encrypted
    (HTTP, (), False, "http://example.com/", True),
    (HTTP, (), False, "https://example.com/", True),
    (HTTPS, (), False, "https://example.com:8443/", False),
    (("https://example.com:8443/",), (), False, "https://example.com:8443/a", True),
    (("http://127.0.0.1:8000/",), (), False, "http://127.0.0.1:8000/a", True),
    (("http://127.0.0.1:8000/",), (), False, "http://127.0.0.1:8001/a", False),
    (("http://[::1]:8000/",), (), False, "http://[::1]:8000/", True),
    (HTTPS, (), False, "https://example.com.evil.test/", False),
    (HTTPS, (), False, "https://notexample.com/", False),
    (HTTPS, (), False, "https://docs.example.com/", False),
    (HTTPS, (), True, "https://docs.example.com/", True),
    (HTTPS, (), True, "https://a.b.example.com/", True),
    (HTTPS, (), True, "http://docs.example.com/", False),
    (HTTPS, (), True, "https://notexample.com/", False),
    ((*HTTPS, "http://old.test/"), (), False, "http://example.com/", False),
    ((*HTTPS, "http://old.test/"), (), False, "http://old.test/", True),
    (HTTPS, ("Shop.test",), False, "https://shop.test/", True),
    (HTTPS, ("shop.test",), False, "http://shop.test/", False),
    (HTTP, ("shop.test",), False, "http://shop.test/", True),  # whoever starts with http has no https
    ((*HTTPS, *HTTP), ("shop.test",), False, "http://shop.test/", False),
    (HTTPS, ("shop.test:80",), False, "http://shop.test/", True),  # asked for by the port
    (HTTPS, ("shop.test:8000",), False, "http://shop.test:8000/", True),
    (HTTPS, ("shop.test:8000",), False, "https://shop.test/", False),
    (HTTP, ("shop.test:443",), False, "http://shop.test/", False),
    (HTTP, ("shop.test:443",), False, "https://shop.test/", True),
    (HTTPS, ("*.shop.test",), False, "https://a.shop.test/", True),
    (HTTPS, ("*.shop.test",), False, "https://shop.test/", False),
    (HTTPS, ("*.www.shop.test",), False, "https://a.shop.test/", False),
]


@pytest.mark.parametrize(("starts", "hosts", "subdomains", "url", "own"), RULES)
def test_the_rules(starts: tuple[str, ...], hosts: tuple[str, ...], subdomains: bool, url: str, own: bool) -> None:
    assert is_own(url, own_hosts(starts, hosts, subdomains=subdomains)) is own


def test_a_list_of_urls_trusts_the_added_hosts_alone() -> None:
    own = own_hosts(("https://example.com/a", "https://other.test/b"), ("other.test",), listed=True)
    assert own == ("https://other.test",)
    assert own_hosts(("https://example.com/a",), listed=True) == ()


LABELS = st.sampled_from(["example.com", "www.example.com", "a.example.com", "shop.test", "127.0.0.1", "b.shop.test"])
PORTS = st.sampled_from(["", ":8000"])
URLS = st.builds("{}://{}{}/".format, st.sampled_from(["http", "https"]), LABELS, PORTS)
ADDED = st.builds("{}{}{}".format, st.sampled_from(["", "*."]), LABELS, PORTS)


@given(st.lists(URLS, min_size=1, max_size=3), st.lists(ADDED, max_size=3), st.booleans(), URLS)
def test_no_host_beyond_the_scope_is_ever_trusted(starts: list[str], hosts: list[str], below: bool, url: str) -> None:
    own = is_own(url, own_hosts(starts, hosts, subdomains=below))
    scope = Scope.of(starts, CrawlOptions(hosts=tuple(hosts), subdomains=below))
    assert scope.is_on_site(url) or not own
    if url.startswith("https://"):
        assert own is scope.is_on_site(url)
