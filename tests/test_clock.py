"""The clock that all processes share: Redis's, asked for now and then, and counted on in between."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from redis import ConnectionError as RedisAway
from redis import Redis

import crawler
from crawler import clock
from crawler.clock import READ_EVERY_S, SharedClock
from crawler.settings import environment

THERE = 1_000_000.0


class Machine:
    """A machine whose own clock is off, and a Redis that can be asked for the time. Asking takes `slow` seconds."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.ticked, self.ahead, self.moved, self.slow = 0.0, ahead, 0.0, 0.0
        self.is_away, self.asked = False, 0

    def monotonic(self) -> float:
        return self.ticked

    def own(self) -> float:
        return THERE + self.ticked + self.ahead

    def redis(self) -> float:
        self.asked += 1
        if self.is_away:
            raise RedisAway
        self.ticked += self.slow
        return THERE + self.ticked + self.moved

    @property
    def shared(self) -> SharedClock:
        return SharedClock(self.redis, self.monotonic, self.own)


@pytest.mark.parametrize("ahead", [600, -600])
def test_a_machine_with_a_wrong_clock_knows_the_time_of_redis(ahead: float) -> None:
    machine = Machine(ahead)
    assert machine.shared.epoch_seconds() == THERE


def test_redis_is_asked_once_in_a_while_however_often_the_time_is_wanted() -> None:
    machine = Machine()
    shared = machine.shared
    for _ in range(100):
        machine.ticked += READ_EVERY_S / 50
        assert shared.epoch_seconds() == pytest.approx(THERE + machine.ticked)
    assert machine.asked <= 3


def test_of_several_readings_the_quickest_counts() -> None:
    machine = Machine()
    waits = iter([0.4, 0.3, 0.001])

    def slowly() -> float:
        moment = machine.redis()
        machine.ticked += next(waits)  # Redis has answered, and the machine is too busy to notice
        return moment

    shared = SharedClock(slowly, machine.monotonic, machine.own)
    assert shared.epoch_seconds() == pytest.approx(THERE + machine.ticked, abs=0.001)


def test_a_quick_reading_is_not_repeated() -> None:
    machine = Machine()
    machine.shared.epoch_seconds()
    assert machine.asked == 1


def test_a_correction_of_this_machines_clock_changes_nothing() -> None:
    machine = Machine(600)
    shared = machine.shared
    shared.epoch_seconds()
    machine.ahead, machine.ticked = 0.0, 1.0
    assert shared.epoch_seconds() == THERE + 1


def test_when_another_redis_takes_over_its_clock_counts() -> None:
    machine = Machine()
    shared = machine.shared
    shared.epoch_seconds()
    machine.moved = -600.0
    machine.ticked += READ_EVERY_S
    assert shared.epoch_seconds() == THERE + READ_EVERY_S - 600


def test_a_slow_answer_that_may_mean_the_same_moves_nothing() -> None:
    machine = Machine()
    shared = machine.shared
    shared.epoch_seconds()
    machine.ticked, machine.slow = READ_EVERY_S, 1.0
    assert shared.epoch_seconds() == THERE + machine.ticked


def test_while_redis_is_away_the_last_reading_counts_on() -> None:
    machine = Machine(600)
    shared = machine.shared
    shared.epoch_seconds()
    machine.is_away = True
    machine.ticked += 3600
    assert shared.epoch_seconds() == THERE + 3600


def test_before_it_was_ever_read_this_machines_own_clock_must_do_and_redis_is_not_asked_each_time() -> None:
    machine = Machine(600)
    machine.is_away = True
    shared = machine.shared
    assert [shared.epoch_seconds() for _ in range(10)] == [THERE + 600] * 10
    assert machine.asked == 1
    machine.is_away = False
    machine.ticked += READ_EVERY_S
    assert shared.epoch_seconds() == THERE + READ_EVERY_S


def test_threads_that_come_first_at_one_moment_all_know_the_time(real_redis: Redis) -> None:
    shared = SharedClock(clock.redis_time, own=lambda: 0.0)
    with ThreadPoolExecutor(16) as threads:
        moments = list(threads.map(lambda _: shared.epoch_seconds(), range(64)))
    assert max(abs(moment - time.time()) for moment in moments) < 60  # and not that of the machine, which is 0


@pytest.mark.django_db
def test_a_wrong_clock_is_measured_against_redis(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() - 600)
    assert clock.measure(connection).redis == pytest.approx(-600, abs=2)


@pytest.mark.django_db
@pytest.mark.skipif(
    connection.settings_dict["ENGINE"] == environment.SQLITE,
    reason="SQLite has no clock of its own; set DATABASE_URL to a PostgreSQL to run this",
)
def test_a_wrong_clock_is_measured_against_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + 600)
    assert clock.measure(connection).database == pytest.approx(600, abs=2)


@pytest.mark.django_db
def test_services_that_are_away_have_no_clock(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert clock.measure(connection).redis is None


OWN_CLOCK = re.compile(r"timezone\.now|(?<!\.)\btime\.time\b|datetime\.(now|utcnow|today)\b|date\.today|default=now\b")
MAY_READ_IT = {
    "clock.py",  # to measure it
    "launch/alive.py",  # a file in memory of the same container is dated by this clock too
    "launch/man.py",  # the date of a man page
    "launch/supervisor.py",  # to date a line of a log that people read
}


def test_nobody_else_goes_by_this_machines_own_clock() -> None:
    """A moment that is compared with one of another process, or subtracted from it, must be of the shared clock."""
    root = Path(crawler.__file__).parent
    modules = {str(path.relative_to(root)): path for path in root.rglob("*.py") if path.parent.name != "migrations"}
    assert {name for name, path in modules.items() if OWN_CLOCK.search(path.read_text())} == MAY_READ_IT
