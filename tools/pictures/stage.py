"""The processes behind the pictures: a Redis, workers and the web server, over a folder of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.browser.conftest import Web, answers
from tests.conftest import free_port, redis_binary
from tests.stack import Stack

WORKERS = 2
SETTINGS = {"CRAWLER_MAX_ATTEMPTS": "2"}  # so that what does not answer is given up soon


@contextmanager
def web_of(folder: Path) -> Iterator[Web]:
    """The stack, working; everything has ended when this has."""
    port, redis_port = free_port(), free_port()
    stack = Stack(folder, f"redis://127.0.0.1:{redis_port}/0", **SETTINGS)
    try:
        stack.spawn(
            redis_binary(), "--bind", "127.0.0.1", "--port", str(redis_port), "--dir", str(folder), "--save", ""
        )
        stack.wait_for(lambda: _is_up(stack.redis))
        stack.spawn(
            "gunicorn", "crawler.settings.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "8", "--no-control-socket"
        )
        stack.wait_for(lambda: answers(port))
        web = Web(stack, f"http://127.0.0.1:{port}")
        for _ in range(WORKERS):
            web.start_worker()
        yield web
    finally:
        stack.end()


def _is_up(server: redis.Redis) -> bool:
    try:
        return bool(server.ping())
    except redis.exceptions.ConnectionError:
        return False
