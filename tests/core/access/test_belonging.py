"""Which hosts may be sent a crawl's credentials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.access.credentials import is_own, own_hosts
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.urls.crawl_scope import Scope

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
