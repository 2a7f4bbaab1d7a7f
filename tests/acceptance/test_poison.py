"""A page that kills whoever works on it is given up after four workers, and costs no other page its outcome."""

import os
import signal
import threading
from contextlib import suppress

import pytest

from tests.acceptance.test_stock_workers import EXPECTED, small_site
from tests.site import Reply
from tests.stack import Stack


@pytest.mark.long
def test_a_page_that_kills_its_worker_is_given_up_and_the_others_are_fetched(stack: Stack) -> None:
    site = small_site()
    site.pages["/"] = str(site.pages["/"]).replace("</body>", '<a href="/poison">do not touch</a></body>')
    site.pages["/poison"] = lambda before: _kill_the_holder(stack)
    with site.serving():
        ended = threading.Event()
        keeper = threading.Thread(target=_keep_a_worker_running, args=(stack, ended))
        keeper.start()
        try:
            receipt = stack.wait_until_finished(stack.start(f"{site.url}/"), patience=150)
        finally:
            ended.set()
            keeper.join()
        assert site.hits["/poison"] == 4  # the first death names no page
        (crashed,) = stack.rows("SELECT * FROM crawler_page WHERE outcome = 'crashed'")
        assert crashed["url"].endswith("/poison")
        assert "the worker died 3 times" in crashed["error"]
        assert (crashed["attempts"], crashed["deaths"]) == (3, 3)
        assert stack.rows("SELECT * FROM crawler_page WHERE deaths > 0") == [crashed]
        assert (receipt["failed"], receipt["fetched"]) == (1, EXPECTED["fetched"])


def _kill_the_holder(stack: Stack) -> Reply:
    """What a parser that crashes, or memory that runs out, does to the process that asked for this page."""
    for key in stack.redis.keys("crawler:*:lease:*"):
        holder = stack.redis.hget(key, "holder")
        if holder:
            with suppress(ProcessLookupError):
                os.kill(int(holder.decode().rpartition(":")[2]), signal.SIGKILL)
    return Reply("too late")


def _keep_a_worker_running(stack: Stack, ended: threading.Event) -> None:
    worker = None
    while not ended.wait(0.1):
        if worker is None or worker.poll() is not None:
            worker = stack.start_worker()
