"""The options that a fetch job gets, under the names that workers of every version read."""

from typing import Any

import pytest

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.fetch_policy import FetchPolicy, sent_values

NAMES = (
    *("user_agent", "obey_robots", "delay", "concurrency", "private_hosts", "max_body_bytes", "per_minute"),
    *("throttle", "sitemaps", "own_hosts", "sealed", "sketches", "fields", "keep", "page_timeout", "render"),
    *("wait_for", "blocked_hosts", "render_seconds", "scroll", "screenshot", "screenshot_format"),
    *("ignore_tls_errors", "engine", "spider", "login_url", "login_check"),
)


def policy_of(**options: Any) -> FetchPolicy:
    return FetchPolicy(**sent_values(CrawlOptions(**options)), private_hosts=(), max_body_bytes=1)


def test_it_has_the_names_that_earlier_versions_know() -> None:
    assert set(NAMES) <= set(FetchPolicy.__struct_fields__)


def test_an_option_with_another_name_there_is_sent_under_it() -> None:
    policy = policy_of(near_duplicates=True, render_timeout=7.0)
    assert (policy.sketches, policy.render_seconds) == (True, 7.0)
    assert policy_of().render_seconds == 15.0


def test_the_defaults_are_those_of_the_options() -> None:
    assert policy_of() == FetchPolicy(private_hosts=(), max_body_bytes=1)


@pytest.mark.parametrize(
    ("options", "version"),
    [
        ({}, 1),
        ({"keep": ("html",), "render_timeout": 7.0}, 1),
        ({"render": "auto"}, 2),
        ({"login_url": "https://example.com/login"}, 3),
        ({"login_url": "https://example.com/login", "render": "always"}, 3),
    ],
)
def test_its_version_is_the_newest_that_a_chosen_option_needs(options: dict[str, Any], version: int) -> None:
    assert policy_of(**options).version == version
