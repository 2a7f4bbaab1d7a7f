"""Whether Redis knows its clients; what a worker that was asked to end does, and until when."""

import pytest
from honcho.manager import KILL_WAIT

from crawler.core.installation.deployment import (
    PAGE_GRACE_SECONDS,
    SHORT_GRACE_SECONDS,
    STOP_SECONDS,
    TICK_GRACE_SECONDS,
    Phase,
    is_guarded,
    phase,
)
from crawler.launch.workers import STOP_TIMEOUT_S
from crawler.settings import base


@pytest.mark.parametrize(
    ("url", "guarded"),
    [
        ("redis://127.0.0.1:6379/0", False),
        ("redis://localhost", False),
        ("redis://user@10.0.0.1:6379/0", False),
        ("redis://:@127.0.0.1:6379/0", False),
        ("rediss://10.0.0.1:6379/0", False),
        ("redis://:secret@127.0.0.1:6379/0", True),
        ("redis://127.0.0.1:6379/0?password=secret", True),
        ("rediss://10.0.0.1:6379/0?ssl_certfile=/etc/me.pem", True),
        ("redis://10.0.0.1:6379/0?ssl_certfile=/etc/me.pem", False),
        ("unix:///run/redis/redis.sock?db=1", True),
        ("redis+sentinel://one:26379,[::1]:26379/mymaster", False),
        ("redis+sentinel://:secret@one:26379,[::1]:26379/mymaster", True),
        ("rediss+sentinel://one/mymaster?ssl_certfile=/etc/me.pem", True),
    ],
)
def test_whether_redis_asks_who_is_there(url: str, guarded: bool) -> None:
    assert is_guarded(url) is guarded


def test_it_works_as_long_as_nobody_asks_it_to_end() -> None:
    assert phase(None) is Phase.WORK


def test_it_begins_nothing_new_then_gives_pages_up_then_leaves_threads_behind() -> None:
    moments = (
        0.0,
        PAGE_GRACE_SECONDS - 0.1,
        PAGE_GRACE_SECONDS,
        TICK_GRACE_SECONDS - 0.1,
        TICK_GRACE_SECONDS,
        99.0,
    )
    nothing_new, abort, leave = Phase.BEGIN_NOTHING, Phase.ABORT, Phase.LEAVE
    assert [phase(moment) for moment in moments] == [nothing_new, nothing_new, abort, abort, leave, leave]


def test_a_stop_takes_ten_seconds_at_most_and_leaves_time_to_hand_back() -> None:
    assert PAGE_GRACE_SECONDS < TICK_GRACE_SECONDS < STOP_SECONDS <= 10


def test_pages_are_given_up_sooner_where_the_setting_says_so() -> None:
    assert [phase(moment, page_grace=2.0) for moment in (1.9, 2.0)] == [Phase.BEGIN_NOTHING, Phase.ABORT]


def test_without_a_setting_they_have_the_longest_time() -> None:
    assert base.CRAWLER_GRACE_SECONDS == PAGE_GRACE_SECONDS


def test_pages_under_way_are_given_up_before_honcho_or_a_command_kills_the_worker() -> None:
    assert min(KILL_WAIT, STOP_TIMEOUT_S) > SHORT_GRACE_SECONDS + 1
