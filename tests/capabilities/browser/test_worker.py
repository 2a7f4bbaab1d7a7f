"""When a browser worker is worn."""

from typing import Any

import pytest
from redis import Redis
from rq import Queue

from crawler.capabilities.browser import renderer
from crawler.capabilities.browser.renderer import Renderer
from crawler.fetcher import loop
from crawler.worker import Worker


@pytest.fixture
def browser_worker(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Worker:
    monkeypatch.setattr(renderer, "warm_up", lambda: None)
    monkeypatch.setattr(loop.connection_pool, "outlasts_jobs", False)  # it is set by the worker, for the whole process
    return Worker([Queue("render", connection=real_redis)], connection=real_redis)


@pytest.mark.parametrize(("pages", "should_recycle"), [(0, False), (79, False), (80, True), (81, True)])
def test_it_is_recycled_after_so_many_pages(
    browser_worker: Worker, monkeypatch: pytest.MonkeyPatch, pages: int, should_recycle: bool
) -> None:
    monkeypatch.setattr(Renderer, "pages", pages)
    assert browser_worker._should_recycle() is should_recycle


def test_it_is_recycled_after_so_many_jobs_like_any_worker(browser_worker: Worker, settings: Any) -> None:
    settings.CRAWLER_WORKER_JOBS = 0
    assert browser_worker._should_recycle()
