"""Processes of Scrapy end with the test that has started them."""

from collections.abc import Iterator

import pytest

from crawler.capabilities.scrapy import driver
from tests.bench import bench, database_and_redis, handlers_are_put_back

__all__ = ["bench", "database_and_redis", "handlers_are_put_back"]


@pytest.fixture(autouse=True)
def _scrapy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("scrapy", reason="Scrapy is not installed (pip install -r requirements-scrapy.txt)")
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "tests.capabilities.scrapy.project")
    yield
    driver.close_all()
