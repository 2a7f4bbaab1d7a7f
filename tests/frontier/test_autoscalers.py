"""Autoscalers on several hosts share the workers that are useful, whichever of them comes, goes or falls silent."""

import os
import socket
import subprocess
from collections.abc import Callable
from itertools import count

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from crawler.frontier.autoscalers import AUTOSCALERS_TTL_S, MISSED_HEARTBEATS, Membership, has_autoscaler
from crawler.frontier.keys import AUTOSCALERS

Join = Callable[..., Membership]


@pytest.fixture
def join(redis: Redis) -> Join:
    """An autoscaler of another host than those before, and younger; or with the process id of one here."""
    numbers = count()

    def joined(least: int = 0, most: int = 2, here: int | None = None) -> Membership:
        number = next(numbers)
        host, pid = (socket.gethostname(), here) if here else (f"host-{number}", 1)
        member = Membership(least, most, f"{number:04}/{host}/{pid}/token")
        member.beat(redis)
        return member

    return joined


def shared(redis: Redis, wanted: int, *members: Membership) -> list[int]:
    """What each keeps after a beat of all."""
    for member in members:
        member.beat(redis)
    return [member.share(wanted) for member in members]


def test_an_autoscaler_is_known_as_long_as_it_beats(redis: Redis, join: Join) -> None:
    assert not has_autoscaler(redis)
    join()
    assert has_autoscaler(redis)
    assert 0 < redis.ttl(AUTOSCALERS) <= AUTOSCALERS_TTL_S


def test_one_alone_keeps_all(redis: Redis, join: Join) -> None:
    assert shared(redis, 5, join(1, 8)) == [5]
    assert shared(redis, 0, join(1, 8))[0] == 1


def test_several_keep_as_many_as_are_wanted_together(redis: Redis, join: Join) -> None:
    members = [join() for _ in range(4)]
    assert shared(redis, 1, *members) == [1, 0, 0, 0]
    assert shared(redis, 5, *members) == [2, 1, 1, 1]
    assert shared(redis, 99, *members) == [2, 2, 2, 2]


def test_one_that_joins_takes_its_part(redis: Redis, join: Join) -> None:
    first = join(0, 8)
    assert shared(redis, 4, first) == [4]
    assert shared(redis, 4, first, join(0, 8)) == [2, 2]


def test_the_others_take_over_from_one_that_leaves_at_once(redis: Redis, join: Join) -> None:
    first, second = join(), join()
    first.leave(redis)
    assert shared(redis, 2, second) == [2]


def test_one_that_is_silent_is_dropped_after_some_beats_of_the_others(redis: Redis, join: Join) -> None:
    _killed, other = join(), join()
    for _ in range(MISSED_HEARTBEATS - 1):
        assert shared(redis, 1, other) == [0]
    assert shared(redis, 1, other) == [1]
    assert redis.hkeys(AUTOSCALERS) == [other.name.encode()]


def test_one_that_was_cut_off_has_its_part_again_when_it_is_back(redis: Redis, join: Join) -> None:
    cut_off, other = join(), join()
    for _ in range(MISSED_HEARTBEATS + 1):
        other.beat(redis)
    assert shared(redis, 1, cut_off, other) == [1, 0]


def test_after_an_outage_of_redis_none_takes_the_others_for_dead(redis: Redis, join: Join) -> None:
    first, second = join(), join()
    shared(redis, 2, first, second)
    redis.delete(AUTOSCALERS)
    assert shared(redis, 2, second) == [1]
    assert shared(redis, 2, first, second) == [1, 1]


def test_the_first_one_back_is_told_that_redis_lost_its_data(redis: Redis, join: Join) -> None:
    first, second = join(), join()
    assert not second.beat(redis)
    redis.delete(AUTOSCALERS)
    assert second.beat(redis)
    assert not first.beat(redis)
    assert not second.beat(redis)


def test_a_full_redis_changes_nothing(redis: Redis, join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = join(), join()
    shared(redis, 2, first, second)
    monkeypatch.setattr(second, "_write", lambda *values: None)  # as it is when HSET is refused
    for _ in range(2 * MISSED_HEARTBEATS):
        assert shared(redis, 2, second) == [1]


def test_a_refused_entry_is_no_error(real_redis: Redis) -> None:
    member = Membership(0, 1)
    real_redis.config_set("maxmemory", "1")
    try:
        with pytest.raises(ResponseError):
            real_redis.set("x", 1)
        member.beat(real_redis)
    finally:
        real_redis.config_set("maxmemory", "0")
    assert member.share(1) == 1


def test_the_place_of_one_that_was_killed_here_is_taken_at_once(redis: Redis, join: Join) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    join(here=ended.pid)
    join(here=os.getpid())  # in a container the new one may have the number of the killed one
    assert shared(redis, 1, Membership(0, 2)) == [1]


def test_one_that_runs_on_the_same_host_counts(redis: Redis, join: Join) -> None:
    join(here=os.getppid())
    assert shared(redis, 1, Membership(0, 2)) == [0]


@pytest.mark.parametrize("raw", [b"", b"5", b"[1, 2]", b"null", b"[1, 0, null]"])
def test_an_entry_of_another_version_takes_no_share(redis: Redis, raw: bytes) -> None:
    redis.hset(AUTOSCALERS, "of another version", raw)
    assert shared(redis, 2, Membership(0, 2)) == [2]
