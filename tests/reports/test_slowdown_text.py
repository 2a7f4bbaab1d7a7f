"""How a host responds, and how it is slowed down, is said with figures."""

import pytest

from crawler.core.politeness.throttle import Level, Slowdown, Throttle
from crawler.reports.slowdown_text import load_text, slowdown_text, slowed_lines

SLOW = Throttle(limit=4, seconds=2.0, news_at=1.0)


@pytest.mark.parametrize(
    ("throttle", "connections", "text"),
    [
        (SLOW, 4, "responds in 2.0 s; 4 of 4 connections"),
        (SLOW, 16, "responds in 2.0 s; 4 of 16 connections"),
        (SLOW, 1, "responds in 2.0 s; 1 of 1 connection"),
        (
            Throttle(limit=3, seconds=2.0, levels={4: Level(4, 0.7, 0.01, 9, 0.0)}, is_trial=True, news_at=1.0),
            4,
            "responds in 2.0 s; 3 connections are tried",
        ),
        (
            Throttle(limit=1, seconds=0.2, ceiling=4.0, status=503, weight=10, failed=3, news_at=1.0),
            4,
            "slowed to 1 of 4 connections: 30 % of its responses were 503",
        ),
        (
            Throttle(limit=1, seconds=0.2, ceiling=4.0, status=503, weight=10, failed=3, news_at=1.0),
            1,
            "responds in 0.2 s; 1 of 1 connection",
        ),
        (
            Throttle(limit=2, seconds=0.2, levels={4: Level(4, 0.7, 0.01, 9, 0.0)}, news_at=1.0),
            4,
            "slowed to 2 of 4 connections: with more it responds more slowly",
        ),
        (
            Throttle(limit=0.1, delay=2.0, seconds=0.2, weight=4, failed=4, news_at=1.0),
            4,
            "slowed to one request in 2.0 s: 100 % of the requests got no response",
        ),
    ],
)
def test_it_says_how_a_host_is_treated_and_why(throttle: Throttle, connections: int, text: str) -> None:
    assert load_text(throttle, connections) == text


def test_of_a_host_that_is_down_the_last_requests_are_counted() -> None:
    down = Throttle(limit=2, delay=4.0, seconds=0.2, failures=5, weight=50, failed=5, news_at=1.0)
    assert load_text(down, 4) == "slowed to one request in 4.0 s: the last 5 requests got no response"


def test_a_host_that_gets_all_it_could_is_not_slowed_down() -> None:
    assert slowdown_text(Slowdown(4, status=503, failed_share=0.3), 4) == ""


def test_a_receipt_names_the_worst_hosts_and_counts_the_others() -> None:
    plain = {"of": 4, "connections": 1, "delay": 0.0, "status": 429, "failed_share": 0.5}
    lines = slowed_lines([{"host": f"{name}.test", **plain} for name in "abcde"])
    assert lines[0] == "a.test, slowed to 1 of 4 connections: 50 % of its responses were 429"
    assert lines[3:] == ["and 2 more"]
