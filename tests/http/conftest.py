"""The contract of the HTTP client holds over each of its transports."""

from typing import Any

import pytest

OVER_EACH = {
    "test_abort", "test_body", "test_client", "test_client_certificates", "test_connection", "test_failures",
    "test_guard", "test_head", "test_ignored_tls", "test_keep_alive", "test_memory_budget", "test_outgoing",
    "test_proxies", "test_proxy", "test_robots", "test_socks", "test_tls", "test_warc_record", "test_wire",
}  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.rpartition(".")[2] in OVER_EACH:
        metafunc.parametrize("http_client", ["builtin", "curl", "requests"], indirect=True)


@pytest.fixture(autouse=True)
def http_client(request: pytest.FixtureRequest, settings: Any) -> str:
    """The transport of this test's fetchers."""
    settings.CRAWLER_HTTP_CLIENT = getattr(request, "param", "builtin")
    return str(settings.CRAWLER_HTTP_CLIENT)
