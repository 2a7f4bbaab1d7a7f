"""How a host responds, and how it is slowed down, is said with figures."""

from typing import Any

from syrupy.assertion import SnapshotAssertion

from crawler.core.politeness.throttle import Level, Slowdown, Throttle
from crawler.reports.slowdown_text import load_text, slowdown_text, slowed_lines
from tests.text_files import listed

SLOW = Throttle(limit=4, seconds=2.0, news_at=1.0)


FAILING: dict[str, Any] = {"limit": 1, "seconds": 0.2, "ceiling": 4.0, "status": 503, "weight": 10, "failed": 3}
SLOWER_WITH_4 = {4: Level(4, 0.7, 0.01, 9, 0.0)}
HOSTS = {
    "slow, of 4 connections": (SLOW, 4),
    "slow, of 16 connections": (SLOW, 16),
    "slow, of 1 connection": (SLOW, 1),
    "more are tried": (Throttle(limit=3, seconds=2.0, levels=SLOWER_WITH_4, is_trial=True, news_at=1.0), 4),
    "it fails, of 4 connections": (Throttle(**FAILING, news_at=1.0), 4),
    "it fails, of 1 connection": (Throttle(**FAILING, news_at=1.0), 1),
    "slower with more": (Throttle(limit=2, seconds=0.2, levels=SLOWER_WITH_4, news_at=1.0), 4),
    "no response": (Throttle(limit=0.1, delay=2.0, seconds=0.2, weight=4, failed=4, news_at=1.0), 4),
    "it is down": (Throttle(limit=2, delay=4.0, seconds=0.2, failures=5, weight=50, failed=5, news_at=1.0), 4),
}


def test_it_says_how_a_host_is_treated_and_why(golden: SnapshotAssertion) -> None:
    assert listed({name: load_text(*host) for name, host in HOSTS.items()}) == golden


def test_a_host_that_gets_all_it_could_is_not_slowed_down() -> None:
    assert slowdown_text(Slowdown(4, status=503, failed_share=0.3), 4) == ""


def test_a_receipt_names_the_worst_hosts_and_counts_the_others() -> None:
    plain = {"of": 4, "connections": 1, "delay": 0.0, "status": 429, "failed_share": 0.5}
    lines = slowed_lines([{"host": f"{name}.test", **plain} for name in "abcde"])
    assert lines[0] == "a.test, slowed to 1 of 4 connections: 50 % of its responses were 429"
    assert lines[3:] == ["and 2 more"]
