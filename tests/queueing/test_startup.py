"""A process that starts before Redis and the database waits for them; a clock that is off is named."""

import pytest

from crawler.core.errors import ServiceDown
from crawler.core.installation.deployment import Skew
from crawler.queueing.startup import Service, skew_text, wait_for


class GivenTime:
    """Sleeping moves the clock, and nothing else does."""

    def __init__(self) -> None:
        self.time = 1000.0

    def clock(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def service(name: str, *troubles: str | None) -> Service:
    """One with these troubles at each attempt, the last of them for good."""
    left = list(troubles)
    return Service(name, lambda: left.pop(0) if len(left) > 1 else left[0], "Check it.")


def waited(seconds: float, *services: Service) -> tuple[list[str], float]:
    """The lines that were said, and how long it took."""
    time, lines = GivenTime(), list[str]()
    wait_for(services, seconds, sleep=time.sleep, clock=time.clock, say=lines.append)
    return lines, time.time - 1000.0


def test_what_is_there_is_not_waited_for_and_not_talked_about() -> None:
    assert waited(60, service("Redis", None), service("the database", None)) == ([], 0.0)


def test_each_attempt_that_fails_is_a_line() -> None:
    redis, database = service("Redis", "refused", "loading", None), service("the database", "no tables", None)
    lines, seconds = waited(60, redis, database)
    assert lines == [
        "Waiting for Redis (attempt 1, 60 s left): refused",
        "Waiting for Redis (attempt 2, 59 s left): loading",
        "Redis is ready.",
        "Waiting for the database (attempt 1, 58 s left): no tables",
        "The database is ready.",
    ]
    assert seconds == 3.0


def test_it_ends_when_both_together_took_longer_than_the_time() -> None:
    with pytest.raises(ServiceDown) as raised:
        waited(3, service("Redis", "refused", None), service("the database", "no tables"))
    assert str(raised.value) == "The database is not ready after 3 s: no tables. Check it."


def test_without_time_each_is_tried_once() -> None:
    assert waited(0, service("Redis", None)) == ([], 0.0)
    with pytest.raises(ServiceDown, match="Redis is not ready after 0 s: refused"):
        waited(0, service("Redis", "refused", None))


@pytest.mark.parametrize(
    ("redis", "database", "sentence"),
    [
        (0.0, 0.0, ""),
        (2.0, -2.0, ""),
        (None, None, ""),
        (600.2, None, "This machine's clock is 600.2 s ahead of Redis's."),
        (None, -7.0, "This machine's clock is 7.0 s behind the database's."),
        (600.2, 600.1, "This machine's clock is 600.2 s ahead of the clocks of Redis and the database."),
        (-600.0, 0.1, "Redis's clock is 600.0 s ahead of the clocks of this machine and the database."),
        (0.1, 600.0, "The database's clock is 600.0 s behind the clocks of this machine and Redis."),
        (600.0, -60.0, "This machine's clock is 600.0 s ahead of Redis's and 60.0 s behind the database's."),
    ],
)
def test_the_clock_that_is_off_is_named(redis: float | None, database: float | None, sentence: str) -> None:
    assert skew_text(Skew(redis=redis, database=database)) == sentence


def test_only_what_was_compared_is_known() -> None:
    assert Skew(redis=0.0).known == {"redis": 0.0}
