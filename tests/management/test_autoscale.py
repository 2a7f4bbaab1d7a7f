"""`manage.py autoscale` with real workers: from none to one for a crawl, and none is left when it is stopped."""

from __future__ import annotations

import signal
import sys

import pytest
from django.core.management import CommandError, call_command

from tests.site import Site, page
from tests.stack import Stack

AUTOSCALE = (sys.executable, "manage.py", "autoscale", "--min", "0", "--max", "2")
SITE = {"/": page(*[f"/{number}" for number in range(20)]), **{f"/{number}": "" for number in range(20)}}


def test_a_crawl_gets_a_worker_where_there_was_none(stack: Stack) -> None:
    with Site(SITE).serving() as site:
        scaler = stack.spawn(*AUTOSCALE)
        crawl = stack.start(f"{site.url}/")
        receipt = stack.wait_until_finished(crawl)
    assert receipt["fetched"] == 21
    assert "Workers: 1." in stack.log()
    scaler.send_signal(signal.SIGTERM)
    assert scaler.wait(20) == 128 + signal.SIGTERM
    assert not stack.redis.scard("rq:workers")


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(CommandError, match=r"--min must be from 0 to --max \(2\), not 3"):
        call_command("autoscale", "--min", "3", "--max", "2")
