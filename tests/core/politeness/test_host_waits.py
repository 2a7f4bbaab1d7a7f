"""Of all that may hold a host up, the cause is named, with its figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.core.politeness.host_rules import HostTiming, WaitReason, wait_reason

FREE = HostTiming(connections=0, allowed=4)

CAUSES: list[tuple[str, HostTiming, tuple[float, WaitReason]]] = [
    ("nothing is in the way", FREE, (0.0, WaitReason.NOTHING)),
    (
        "moments that have passed",
        replace(FREE, rest_in=-5.0, due_in=-1e9, stop_in=-1.0, probe_in=-1.0, asked_ago=9.0, chosen=3.0),
        (0.0, WaitReason.NOTHING),
    ),
    ("the server asked to wait", replace(FREE, stop_in=3600.0, rest_in=3600.0), (3600.0, WaitReason.STOP)),
    (
        "the server asked to wait while a delay is kept and connections are in use",
        replace(FREE, stop_in=60.0, rest_in=60.0, due_in=90.0, chosen=2.0, asked_ago=0.0, connections=4),
        (60.0, WaitReason.STOP),
    ),
    ("one page is tried after that", replace(FREE, probe_in=20.0, rest_in=2.0), (20.0, WaitReason.PROBE)),
    (
        "its robots.txt is being asked for",
        replace(FREE, rest_in=0.5, robots_asked=True),
        (0.5, WaitReason.ROBOTS_ASKED),
    ),
    (
        "its robots.txt is asked for again",
        replace(FREE, due_in=4.0, robots_unreachable=True),
        (4.0, WaitReason.ROBOTS_AGAIN),
    ),
    ("all connections are in use", replace(FREE, connections=4), (0.0, WaitReason.BUSY)),
    ("all connections are in use, and were before", replace(FREE, connections=4, rest_in=1.0), (1.0, WaitReason.BUSY)),
    ("it had no connection left the last time, and has one now", replace(FREE, rest_in=1.0), (1.0, WaitReason.AGAIN)),
    ("its chosen delay", replace(FREE, rest_in=2.0, chosen=3.0), (2.0, WaitReason.DELAY)),
    ("a longer Crawl-delay", replace(FREE, rest_in=2.0, chosen=1.0, crawl_delay=3.0), (2.0, WaitReason.ROBOTS)),
    ("the throttle", replace(FREE, rest_in=2.0, chosen=1.0, crawl_delay=1.0, throttle=4.0), (2.0, WaitReason.THROTTLE)),
    (
        "another crawl's longer delay",
        replace(FREE, asked_ago=1.0, chosen=1.0, throttle=4.0, others=5.0),
        (4.0, WaitReason.OTHERS),
    ),
    ("delays of the same length", replace(FREE, rest_in=2.0, chosen=3.0, crawl_delay=3.0), (2.0, WaitReason.DELAY)),
    (
        "another crawl had its turn just now",
        replace(FREE, rest_in=1.0, asked_ago=0.5, chosen=3.0),
        (2.5, WaitReason.DELAY),
    ),
    ("a wait longer than its delay", replace(FREE, rest_in=900.0, chosen=3.0), (900.0, WaitReason.AGAIN)),
    ("a page is tried again", replace(FREE, due_in=8.0, rest_in=2.0, chosen=3.0), (8.0, WaitReason.RETRY)),
    ("a page has a later time", replace(FREE, due_in=8.0, chosen=3.0, is_new=True), (8.0, WaitReason.LATER)),
    (
        "another crawl with a delay has the only connection",
        HostTiming(rest_in=1.0, asked_ago=0.5, others=1.0, connections=1, allowed=1),
        (1.0, WaitReason.BUSY),
    ),
]


@pytest.mark.parametrize(("look", "held"), [case[1:] for case in CAUSES], ids=[case[0] for case in CAUSES])
def test_the_cause_is_found(look: HostTiming, held: tuple[float, WaitReason]) -> None:
    assert wait_reason(look) == held


seconds = st.floats(-10, 4000)


@given(
    st.builds(
        HostTiming,
        rest_in=seconds,
        due_in=seconds,
        stop_in=seconds,
        probe_in=seconds,
        asked_ago=st.none() | st.floats(0, 100),
        chosen=st.floats(0, 60),
        crawl_delay=st.floats(0, 60),
        throttle=st.floats(0, 60),
        others=st.floats(0, 60),
        connections=st.integers(0, 4),
        allowed=st.integers(1, 4),
        robots_asked=st.booleans(),
    )
)
def test_connections_are_never_blamed_while_one_is_free(look: HostTiming) -> None:
    next_in, reason = wait_reason(look)
    assert next_in >= 0
    assert reason is not WaitReason.BUSY or look.connections >= look.allowed
    assert reason is not WaitReason.STOP or look.stop_in > 0
