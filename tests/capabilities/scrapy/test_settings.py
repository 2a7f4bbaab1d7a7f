"""The options of a crawl as settings of Scrapy."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.capabilities.scrapy.settings import FIXED, USUAL, fixed_settings
from crawler.core.protocol.fetch_policy import FetchPolicy

POLICY = FetchPolicy(
    user_agent="Bot/1.0", obey_robots=True, delay=0.0, concurrency=4, private_hosts=(), max_body_bytes=1000
)


@pytest.mark.parametrize(
    ("changed", "setting", "value"),
    [
        ({}, "USER_AGENT", "Bot/1.0"),
        ({}, "DOWNLOAD_MAXSIZE", 1000),
        ({}, "DOWNLOAD_TIMEOUT", 30.0),  # the installation's
        ({"page_timeout": 5.0}, "DOWNLOAD_TIMEOUT", 5.0),
        ({}, "DOWNLOAD_VERIFY_CERTIFICATES", True),
        ({"ignore_tls_errors": True}, "DOWNLOAD_VERIFY_CERTIFICATES", False),
        ({"delay": 5.0}, "DOWNLOAD_DELAY", 0),  # the worker keeps it
        ({"obey_robots": True}, "ROBOTSTXT_OBEY", False),  # the same
    ],
)
def test_options_become_settings(changed: dict[str, Any], setting: str, value: object) -> None:
    assert fixed_settings(replace(POLICY, **changed), page_seconds=30.0)[setting] == value


def test_all_of_them_are_settings_that_scrapy_knows() -> None:
    known = set(vars(pytest.importorskip("scrapy.settings.default_settings"))) | {
        "JOBDIR",
        "CONCURRENT_REQUESTS_PER_IP",
    }
    assert set(fixed_settings(POLICY, page_seconds=30.0)) | set(USUAL) <= known


def test_only_requests_by_the_worker_are_possible() -> None:
    handlers = dict(FIXED["DOWNLOAD_HANDLERS"])
    known = pytest.importorskip("scrapy.settings.default_settings").DOWNLOAD_HANDLERS_BASE
    assert set(known) <= set(handlers)
    assert {scheme for scheme, handler in handlers.items() if handler} == {"http", "https"}


def test_the_documentation_names_each() -> None:
    page = (Path(__file__).parents[3] / "docs" / "scrapy.md").read_text()
    named = {*fixed_settings(POLICY, page_seconds=30.0), *USUAL}
    assert [name for name in sorted(named) if f"`{name}`" not in page] == []
