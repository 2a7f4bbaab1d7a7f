"""A proxy as people type it, and as it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.errors import BadInput
from crawler.core.urls.addresses import Proxy

SECRET = "pass:w@rd/"


@pytest.mark.parametrize(
    ("typed", "host", "port", "user", "password"),
    [
        ("http://proxy.test:3128", "proxy.test", 3128, "", ""),
        (" HTTP://Proxy.test:3128/ ", "proxy.test", 3128, "", ""),
        ("proxy.test:3128", "proxy.test", 3128, "", ""),
        ("10.0.0.1:8080", "10.0.0.1", 8080, "", ""),
        ("http://proxy.test", "proxy.test", 80, "", ""),
        ("http://user:pass%3Aw%40rd%2F@proxy.test:3128", "proxy.test", 3128, "user", SECRET),
        ("user:pw@proxy.test:3128", "proxy.test", 3128, "user", "pw"),
        ("http://user@proxy.test", "proxy.test", 80, "user", ""),
        ("http://[::1]:3128", "::1", 3128, "", ""),
    ],
)
def test_an_http_proxy_is_read_as_typed(typed: str, host: str, port: int, user: str, password: str) -> None:
    assert Proxy.parse(typed) == Proxy(host, port, user, password)


@pytest.mark.parametrize(
    ("typed", "proxy"),
    [
        ("socks5://proxy.test", Proxy("proxy.test", 1080, scheme="socks5")),
        ("SOCKS5://user:pa%20ss@Proxy.test:80", Proxy("proxy.test", 80, "user", "pa ss", scheme="socks5")),
        ("socks5://[::1]:9050/", Proxy("::1", 9050, scheme="socks5")),
    ],
)
def test_a_socks_proxy_is_read_as_typed(typed: str, proxy: Proxy) -> None:
    assert Proxy.parse(typed) == proxy
    assert Proxy.parse(proxy.text) == proxy


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("SOCKS4a://user:hidden@proxy.test", "begins with socks5://"),
        (f"socks5://user:{'hid' * 86}@proxy.test", "255 bytes each at most"),
        ("https://user:hidden@proxy.test", "over TLS are not supported"),
        ("ftp://user:hidden@proxy.test", "begins with http://"),
        ("http://user:hidden@proxy.test:99999", "not a proxy's address"),
        ("http://user:hidden@", "not a proxy's address"),
        ("http://user:hidden@proxy.test/path", "nothing behind its port"),
        ("http://user:hidden@proxy.test?a", "nothing behind its port"),
        ("http://user:hid\r\nden@proxy.test", "control character"),
        ("http://user:hid%0d%0aden@proxy.test", "control character"),
        ("http://us%3Aer:hidden@proxy.test", "cannot hold a colon"),
    ],
)
def test_what_cannot_be_used_is_refused_without_repeating_it(typed: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        Proxy.parse(typed)
    assert caught.value.field == "proxy"
    assert "hid" not in caught.value.message


def test_it_is_shown_without_its_password() -> None:
    proxy = Proxy("::1", 3128, "user", SECRET)
    assert str(proxy) == "http://…@[::1]:3128"
    assert SECRET not in repr(proxy)
    assert str(Proxy("proxy.test", 80)) == "http://proxy.test:80"
    assert str(Proxy("proxy.test", 1080, "user", SECRET, "socks5")) == "socks5://…@proxy.test:1080"


def test_it_asks_for_basic_authorization_with_a_user() -> None:
    assert Proxy("proxy.test", 80, "Aladdin", "open sesame").authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    assert Proxy("proxy.test", 80).authorization == ""


PRINTABLE = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), max_size=20)


@given(PRINTABLE, PRINTABLE)
def test_its_text_is_read_back(user: str, password: str) -> None:
    proxy = Proxy("proxy.test", 3128, user.replace(":", ""), password)
    assert Proxy.parse(proxy.text) == proxy


@given(st.text(max_size=60))
def test_anything_typed_is_a_proxy_or_bad_input(typed: str) -> None:
    try:
        proxy = Proxy.parse(typed)
    except BadInput:
        return
    assert Proxy.parse(proxy.text) == proxy
