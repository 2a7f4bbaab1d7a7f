"""Which URLs belong to a crawl."""

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.urls.crawl_scope import Scope, Side


@pytest.mark.parametrize(
    ("start", "url", "belongs"),
    [
        ("https://example.com/docs/", "https://example.com/", True),  # the whole host, not only what is below the path
        ("https://example.com/", "http://example.com/x", True),  # each on its own port
        ("https://example.com/", "https://www.example.com/x", True),
        ("https://www.example.com/", "http://example.com/x", True),
        ("https://example.com/", "https://docs.example.com/", False),
        ("https://docs.example.com/", "https://example.com/", False),
        ("https://example.com/", "https://example.org/", False),
        ("https://example.com/", "https://notexample.com/", False),
        ("https://example.com/", "https://example.com.evil.org/", False),
        ("https://example.com/", "https://example.com:8080/", False),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/x", True),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8001/x", False),
        ("http://127.0.0.1:8000/", "http://localhost:8000/x", False),
    ],
)
def test_the_site_is_the_start_urls_host_and_port(start: str, url: str, belongs: bool) -> None:
    assert Scope.of([start], CrawlOptions()).holds(url) is belongs


@pytest.mark.parametrize(
    ("start", "url", "belongs"),
    [
        ("https://example.com/", "https://docs.example.com/", True),
        ("https://example.com/", "https://a.b.example.com/", True),
        ("https://www.example.com/", "https://docs.example.com/", True),
        ("https://docs.example.com/", "https://example.com/", False),
        ("https://example.com/", "https://notexample.com/", False),
        ("https://example.com/", "https://docs.example.com:8080/", False),
        ("http://example.com:8080/", "http://docs.example.com:8080/", True),
        ("http://www.com/", "http://example.com/", False),
    ],
)
def test_subdomains_are_the_hosts_below(start: str, url: str, belongs: bool) -> None:
    assert Scope.of([start], CrawlOptions(subdomains=True)).holds(url) is belongs


@pytest.mark.parametrize(
    ("include", "exclude", "url", "belongs"),
    [
        ((), (), "https://example.com/a", True),
        (("/a",), (), "https://example.com/a/b", True),
        (("/a",), (), "https://example.com/b", False),
        (("/a", "/b"), (), "https://example.com/b", True),
        ((), ("/a", r"\?"), "https://example.com/b?x", False),
        (("/a",), ("/a/secret",), "https://example.com/a/open", True),
        (("/a",), ("/a/secret",), "https://example.com/a/secret", False),  # exclude wins
        (("elsewhere",), (), "https://elsewhere.org/", False),  # a pattern narrows the site, it does not widen it
        (("^$",), ("",), "https://example.com/start", True),  # a start URL always belongs
    ],
)
def test_patterns_narrow_the_site(include: tuple[str, ...], exclude: tuple[str, ...], url: str, belongs: bool) -> None:
    options = CrawlOptions(include=include, exclude=exclude)
    assert Scope.of(["https://example.com/start"], options).holds(url) is belongs


def test_several_start_urls_make_several_sites() -> None:
    scope = Scope.of(["https://example.com/", "http://other.org:81/x"], CrawlOptions())
    assert scope.holds("https://example.com/y")
    assert scope.holds("http://other.org:81/y")
    assert not scope.holds("http://other.org/y")


@pytest.mark.parametrize(
    ("hosts", "url", "belongs"),
    [
        (("shop.example.org",), "https://shop.example.org/x", True),
        (("shop.example.org",), "http://www.shop.example.org/x", True),
        (("shop.example.org",), "https://example.org/", False),
        (("shop.example.org",), "https://shop.example.org:8443/", False),
        (("shop.example.org:8443",), "https://shop.example.org:8443/", True),
        (("SHOP.example.org:443",), "https://shop.example.org/", True),
        (("*.example.org",), "https://a.b.example.org/", True),
        (("*.example.org",), "https://example.org/", False),
        (("*.example.org",), "https://notexample.org/", False),
        (("bücher.example",), "https://xn--bcher-kva.example/", True),
    ],
)
def test_further_hosts_belong_to_the_site(hosts: tuple[str, ...], url: str, belongs: bool) -> None:
    assert Scope.of(["https://example.com/"], CrawlOptions(hosts=hosts)).holds(url) is belongs


@pytest.mark.parametrize(
    ("prefixes", "path", "belongs"),
    [
        (("/docs/",), "/docs/a", True),
        (("/docs/",), "/docs", True),
        (("/docs/",), "/docs-old/a", False),
        (("/docs",), "/docs-old/a", True),  # a prefix is a prefix; with "/" at its end it is a folder
        (("/docs/", "/api/"), "/api/x?y=1", True),
        (("/docs/",), "/", False),
        (("/docs/",), "/x?/docs/", False),
        (("/ü/",), "/%C3%BC/a", True),
        (("/a b/",), "/a%20b/c", True),
    ],
)
def test_path_prefixes_narrow_the_site(prefixes: tuple[str, ...], path: str, belongs: bool) -> None:
    scope = Scope.of(["https://example.com/start"], CrawlOptions(path_prefixes=prefixes))
    assert scope.holds(f"https://example.com{path}") is belongs
    assert scope.holds("https://example.com/start")


@pytest.mark.parametrize(
    ("url", "side"),
    [
        ("https://example.com/docs/a", Side.INSIDE),
        ("https://other.example/", Side.OUTSIDE),
        ("https://example.com/blog/", Side.OUTSIDE),  # of the site, but not of this crawl
        ("https://example.com/docs/logout", Side.NOWHERE),
        ("https://other.example/logout", Side.NOWHERE),  # exclude is for what must not be touched
    ],
)
def test_what_is_not_taken_is_external_unless_it_is_excluded(url: str, side: Side) -> None:
    options = CrawlOptions(path_prefixes=("/docs/",), exclude=("logout",))
    assert Scope.of(["https://example.com/docs/"], options).side(url) is side


def test_parameters_are_dropped_on_the_site_alone() -> None:
    scope = Scope.of(["https://example.com/"], CrawlOptions())
    assert scope.tidied("https://www.example.com/a?utm_source=x&b=1") == "https://www.example.com/a?b=1"
    assert scope.tidied("https://other.example/a?utm_source=x") == "https://other.example/a?utm_source=x"
