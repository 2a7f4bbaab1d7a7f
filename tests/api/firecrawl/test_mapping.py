"""Firecrawl's words for a crawl as ours."""

from typing import Any

import pytest

from crawler.api.firecrawl.schemas import CrawlRequest, of_path, options_of, status_of
from crawler.core.options.catalogue import CrawlOptions, check_options
from crawler.core.protocol.completion import State
from crawler.core.text.patterns import Patterns
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

USUAL = options_of(CrawlRequest(url="https://example.com/"))


def changed(**asked: Any) -> dict[str, Any]:
    """What saying this changes."""
    options = options_of(CrawlRequest(**{"url": "https://example.com/", **asked}))
    return {name: value for name, value in options.items() if USUAL.get(name) != value}


def test_what_is_not_said_is_as_firecrawl_has_it() -> None:
    assert (USUAL["max_pages"], USUAL["sitemaps"], USUAL["externals"]) == (10_000, True, "ignore")


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({"limit": 5}, {"max_pages": 5}),
        ({"maxDepth": 2}, {"max_depth": 2}),
        ({"allowSubdomains": True}, {"subdomains": True}),
        ({"ignoreSitemap": True}, {"sitemaps": False}),
        ({"ignoreQueryParameters": True}, {"drop_parameters": ("*",)}),
        ({"delay": 2.0, "maxConcurrency": 1}, {"delay": 2.0, "concurrency": 1}),
        ({"url": "example.com/docs/start"}, {"path_prefixes": ("/docs/",)}),  # its children, as they are called there
        ({"url": "example.com/docs/start", "crawlEntireDomain": True}, {}),
        ({"includePaths": ["a"], "regexOnFullURL": True}, {"include": ("a",)}),
    ],
)
def test_what_is_said_is_an_option_of_ours(asked: dict[str, Any], options: dict[str, Any]) -> None:
    assert changed(**asked) == options


def test_our_own_check_passes_them() -> None:
    asked = CrawlRequest(url="example.com/a/", includePaths=["^/a"], excludePaths=["b$"], ignoreQueryParameters=True)
    check_options(CrawlOptions(**options_of(asked)))


@pytest.mark.parametrize(
    ("pattern", "url", "found"),
    [
        ("^/blog/", "https://example.com/blog/1", True),
        ("^/blog/", "https://example.com/en/blog/1", False),
        ("blog/.*", "https://example.com/en/blog/1", True),
        ("blog", "https://blog.example.com/", False),
        ("blog", "https://example.com/?from=blog", False),
        ("/end$", "https://example.com/the/end?page=2", True),
        ("/end$", "https://example.com/the/ending", False),
        ("a|b$", "https://example.com/a/c", True),
        ("a|b$", "https://example.com/bc", False),
        ("^/a|^/b", "https://www.example.com/b", True),
        ("^/(a|b)", "https://example.com/b", True),
        ("^/(a|b)", "https://example.com/c/b", False),
        (r"^/[|(]\||^/z", "https://example.com/z", True),
        (".*/a", "https://example.com/a", True),
    ],
)
def test_patterns_are_looked_for_in_the_path(pattern: str, url: str, found: bool) -> None:
    assert Patterns.of([of_path(pattern, "example.com")]).found_in(url) is found


def test_every_state_has_a_word_there() -> None:
    words = {State.FINISHED: "completed", State.CANCELLED: "cancelled"}
    assert {state: status_of(state) for state in State} == dict.fromkeys(State, "scraping") | words


def test_a_pattern_of_many_alternatives_takes_no_longer_than_its_length_says() -> None:
    def of(pattern: bytes) -> str:
        return of_path(pattern.decode(), "example.com")

    assert not climb(of, lambda size: filled(b"", b"(|", b"", size), 256 * 1024, 4.0).fault
