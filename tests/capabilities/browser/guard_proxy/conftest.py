"""A proxy for each test, what a page may do by it, and a port that must get no connection."""

import threading
from collections.abc import Iterator

import pytest

from crawler.capabilities.browser.proxy import Admission, GuardProxy
from tests.capabilities.browser.visiting import (
    LIMITS,
    SITE,
    Canary,
)


@pytest.fixture
def others() -> set[threading.Thread]:
    """Those that run already: another test may have started the proxy of this process."""
    return set(threading.enumerate())


@pytest.fixture
def proxy(others: set[threading.Thread]) -> Iterator[GuardProxy]:
    with GuardProxy() as running:
        yield running


@pytest.fixture
def admission(proxy: GuardProxy) -> Iterator[Admission]:
    with proxy.admit(SITE, LIMITS) as admitted:
        yield admitted


@pytest.fixture
def canary() -> Iterator[Canary]:
    with Canary() as listening:
        yield listening
        assert listening.knocks() == []
