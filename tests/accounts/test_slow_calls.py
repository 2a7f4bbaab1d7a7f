"""How many previews and channel tests are made at a time."""

import pytest
from redis import Redis

from crawler.accounts.slow_calls import slow_call
from crawler.core.errors import TooBusy
from crawler.frontier.keys import slow_call_of

pytestmark = pytest.mark.usefixtures("real_redis")


def test_a_user_makes_one_at_a_time() -> None:
    with slow_call(1), pytest.raises(TooBusy, match="Your last preview or test is still in progress"), slow_call(1):
        pass


def test_a_process_makes_two_at_a_time() -> None:
    with slow_call(1), slow_call(2), pytest.raises(TooBusy, match="busy with 2 other previews or tests"), slow_call(3):
        pass


def test_one_that_failed_makes_room_for_the_next() -> None:
    with pytest.raises(ValueError, match="broken"), slow_call(1):
        raise ValueError("broken")
    with slow_call(1):
        pass


def test_a_user_makes_one_at_a_time_in_all_processes(real_redis: Redis) -> None:
    with slow_call(1):
        assert 0 < real_redis.ttl(slow_call_of(1)) <= 120
    assert not real_redis.exists(slow_call_of(1))
    real_redis.set(slow_call_of(1), 1)  # by another process
    with pytest.raises(TooBusy, match="Your last preview or test"), slow_call(1):
        pass
    with slow_call(2), slow_call(3):
        pass
