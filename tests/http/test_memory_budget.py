"""Large bodies wait for memory; small ones do not."""

import gc
import time

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http import exchange_sender
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import Limits
from crawler.http.memory_budget import LARGE_BODY, MemoryBudget
from tests.http.asking import LOOPBACK
from tests.http.server import Server, page

SITE = {"/large": page(b"<" * (LARGE_BODY + 1)), "/small": page(b"<" * LARGE_BODY)}
IMPATIENT = Limits(max_body_bytes=2 * LARGE_BODY, total_seconds=0.5)


def test_room_is_given_back_with_the_last_who_has_a_share() -> None:
    room = MemoryBudget(10)
    share = room.take(6, 0)
    assert share is not None
    assert room.take(5, 0) is None
    del share
    assert room.take(5, 0) is not None


def test_who_needs_more_than_there_is_gets_all_of_it() -> None:
    room = MemoryBudget(10)
    share = room.take(99, 0)
    assert (share is not None, room.take(1, 0)) == (True, None)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> MemoryBudget:
    """MemoryBudget for one large body."""
    room = MemoryBudget(2 * LARGE_BODY)
    monkeypatch.setattr(exchange_sender, "memory_budget", room)
    return room


def test_a_large_body_has_room_for_as_long_as_somebody_has_it(room: MemoryBudget) -> None:
    # Its own clock: a Redis that is away would leave an exception, whose frames hold the body until they are collected.
    with Server(SITE) as server, HttpFetcher(LOOPBACK, "Tester/1", IMPATIENT, now=time.time) as fetcher:
        fetched = fetcher.get(f"{server.origin}/large")
        waiting = fetcher.get(f"{server.origin}/large")
        small = fetcher.get(f"{server.origin}/small")
        del fetched
        again = fetcher.get(f"{server.origin}/large")
    assert (waiting.outcome, waiting.body, small.outcome) == (Outcome.TIMEOUT, b"", Outcome.SUCCESS)
    assert "too many large pages at the same time" in waiting.error
    assert (again.outcome, len(again.body)) == (Outcome.SUCCESS, LARGE_BODY + 1)


def test_a_body_that_turns_out_to_be_too_large_gives_its_room_back(room: MemoryBudget) -> None:
    site = {"/": page(b"<" * 3 * LARGE_BODY, content_length="")}
    with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1", Limits(max_body_bytes=2 * LARGE_BODY)) as fetcher:
        assert fetcher.get(f"{server.origin}/").outcome is Outcome.TOO_LARGE
    gc.collect()
    assert room.take(2 * LARGE_BODY, 0) is not None
