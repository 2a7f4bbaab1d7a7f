"""Each shortage, each hold and each wait for a host has a sentence with its figures."""

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from crawler.core.installation.backpressure import Shortage
from crawler.core.politeness.host_rules import ConnectionUse, HostWait, WaitReason
from crawler.core.politeness.throttle import Throttle
from crawler.core.protocol.holds import HoldReason
from crawler.reports.cause_text import PAUSED_FOR_ROOM, hold_message, paused_for, shortage_text, wait_text, waits_for
from tests.text_files import listed

UNTIL = 1_800_000_200.0  # 08:03:20 UTC

THROTTLE = Throttle(limit=0.5, delay=4.0, status=503, weight=10.0, failed=3.0)

WAITS = {
    "the server asked to wait": HostWait("a.test", 9, 240.0, WaitReason.STOP, until=UNTIL, status=429),
    "it asked to wait, with a status that is not known": HostWait("a.test", 9, 240.0, WaitReason.STOP, until=UNTIL),
    "one page is tried first": HostWait("a.test", 9, 23.0, WaitReason.PROBE),
    "robots.txt is asked for": HostWait("a.test", 9, 0.0, WaitReason.ROBOTS_ASKED),
    "robots.txt is asked for again": HostWait(
        "a.test", 9, 4.0, WaitReason.ROBOTS_AGAIN, "robots.txt could not be fetched: the server returned 503"
    ),
    "Crawl-delay": HostWait("a.test", 9, 12.0, WaitReason.ROBOTS, delay=30.0),
    "the chosen delay": HostWait("a.test", 9, 1.0, WaitReason.DELAY, delay=2.0),
    "another crawl's delay": HostWait("a.test", 9, 1.0, WaitReason.OTHERS, delay=2.0),
    "the throttle": HostWait("a.test", 9, 1.0, WaitReason.THROTTLE, delay=4.0, throttle=THROTTLE),
    "a page is tried again": HostWait("a.test", 9, 8.0, WaitReason.RETRY, "timed out"),
    "a page has a later time": HostWait("a.test", 9, 3600.0, WaitReason.LATER),
    "no connection is free": HostWait(
        "a.test",
        9,
        0.0,
        WaitReason.BUSY,
        used=[ConnectionUse("crawl 7 (b.test)", 2), ConnectionUse("this crawl", 1)],
        allowed=3,
    ),
    "it was put off": HostWait("a.test", 9, 0.8, WaitReason.AGAIN),
    "nothing": HostWait("a.test", 9, 0.0, WaitReason.NOTHING),
}


def test_each_cause_has_its_own_sentence_with_its_figures(golden: SnapshotAssertion) -> None:
    assert listed({cause: wait_text(wait) for cause, wait in WAITS.items()}) == golden


def test_no_cause_lacks_a_sentence_and_no_two_share_one() -> None:
    assert {wait.reason for wait in WAITS.values()} == set(WaitReason)
    said = [re.sub(r"\d", "", wait_text(HostWait("a.test", 1, 1.0, reason, allowed=1))) for reason in WaitReason]
    assert len(set(said)) == len(WaitReason)


@pytest.mark.parametrize("reason", HoldReason)
def test_there_is_a_message_for_each_pause_but_that_of_a_user(reason: HoldReason) -> None:
    assert bool(hold_message(reason, None, "in 3 h")) is (reason is not HoldReason.USER)


def test_the_message_names_the_shortage() -> None:
    assert "Redis is full" in hold_message(HoldReason.CAPACITY, Shortage.REDIS_FULL, "")
    assert hold_message(HoldReason.CAPACITY, None, "") == PAUSED_FOR_ROOM


@pytest.mark.parametrize("short", Shortage)
def test_every_shortage_has_its_sentences(short: Shortage) -> None:
    for told in (paused_for(short), waits_for(short), shortage_text(short)):
        assert told[0].isupper()
        assert told.endswith(".")
        assert ".." not in told
