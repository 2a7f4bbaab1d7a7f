"""The throttle's limit on connections follows how a host responds; on simulated hosts it comes near to the best."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness import host_rules, throttle
from crawler.core.politeness.throttle import (
    CEILING_S,
    FORGET_S,
    HOLD_S,
    LEVELS,
    MAX_DELAY_S,
    MAX_HOLD_S,
    MAX_REFUSED_DELAY_S,
    START,
    Level,
    Slowdown,
    Throttle,
    Window,
    after_failure,
    after_responses,
    after_silence,
    after_window,
    is_full,
)
from tools.bench.simulated_hosts import SCENES, Throttled, best_fixed, crawl

NOW = 1_000_000.0


def a_window(seconds: float, responses: int = 30, since: float = NOW - 5) -> Window:
    """Of responses that all took as long."""
    log = math.log(seconds)
    return Window(since, responses, responses * log, responses * log * log)


def known(**seconds: float) -> Throttle:
    """After windows of a few levels, named c1, c4, ...; the last one is its limit."""
    levels = {
        int(name[1:]): Level(int(name[1:]), math.log(value), 0.001, 50, NOW - 1) for name, value in seconds.items()
    }
    slowest = seconds[f"c{max(levels)}"]
    return Throttle(
        limit=max(levels), levels=levels, seconds=slowest, is_starting=False, trial_at=NOW + 99, news_at=NOW - 1
    )


def failed(known: Throttle, times: int, status: int | None = None) -> list[Throttle]:
    found = []
    for place in range(times):
        known = after_failure(known, 4, status, NOW + place)
        found.append(known)
    return found


def test_of_an_unknown_host_a_crawl_gets_what_it_asks_for() -> None:
    assert [Throttle().allowed(connections) for connections in (1, 4, 64)] == [1, 4, 64]


def test_after_the_first_response_a_host_has_the_usual_connections() -> None:
    first = after_window(Throttle(), a_window(0.3, responses=1), 1, NOW)
    assert (first.connections, first.delay, first.seconds) == (START, 0.0, pytest.approx(0.3))


def test_a_host_that_is_as_fast_as_before_gets_twice_as_many_at_first() -> None:
    first = after_window(Throttle(), a_window(0.3, responses=1), 1, NOW)
    second = after_window(first, a_window(0.3), START, NOW + 2)
    assert after_window(second, a_window(0.3), 2 * START, NOW + 4).connections == 4 * START


def test_no_more_are_allowed_while_those_allowed_are_not_used() -> None:
    assert after_window(known(c1=0.3, c4=0.3), a_window(0.3), 2, NOW).connections == 4


def test_a_host_that_slows_down_under_load_is_tried_with_as_many_as_do_not_wait() -> None:
    lower = after_window(known(c1=0.2, c8=0.4), a_window(0.4), 8, NOW)
    assert lower.connections == 5  # 8 x (1 - 0.2 / 0.4) = 4 wait in its queue, of which one is tolerated
    assert lower.changed_at == NOW


def test_a_host_that_does_as_much_with_fewer_keeps_them() -> None:
    assert after_window(known(c2=0.2, c4=0.4), a_window(0.4), 4, NOW).connections == 2


def test_a_host_that_does_less_with_fewer_gets_them_back() -> None:
    tried = replace(known(c2=0.2, c4=0.2), limit=2, is_trial=True, was_starting=True)
    back = after_window(tried, a_window(0.2), 2, NOW)
    assert back.connections == 4
    assert (back.is_starting, back.is_trial) == (True, False)  # as before the trial


@pytest.mark.parametrize(
    ("slower", "held_s"),
    [
        (0.3, HOLD_S),
        (0.32, 33.0),  # a sixteenth less; 50 responses took 5.3 s
        (0.6, MAX_HOLD_S),
    ],
)
def test_a_limit_that_was_too_much_is_tried_again_when_that_costs_few_pages(slower: float, held_s: float) -> None:
    held = replace(known(c2=0.2, c3=slower), limit=2, trial_at=NOW + 999)
    assert after_window(held, a_window(0.2), 2, NOW + held_s - 2).connections == 2
    assert after_window(held, a_window(0.2), 2, NOW + held_s).connections == 3


def test_requests_under_way_count_in_a_first_window() -> None:
    assert math.exp(a_window(1.0, responses=4, since=NOW - 3).first_mean(4, NOW)) == pytest.approx(1.3)
    assert math.exp(a_window(1.0, responses=6, since=NOW - 2).first_mean(4, NOW)) == pytest.approx(1.0)


def test_a_pause_of_the_host_changes_nothing() -> None:
    before = known(c1=0.2, c4=0.2)
    paused = after_window(before, a_window(2.0), 4, NOW)
    assert paused.connections == 4
    assert after_window(paused, a_window(0.2), 4, NOW + 1).levels[4].mean == pytest.approx(math.log(0.2), abs=0.01)


def test_a_host_that_stays_slower_is_slower_with_any_number_of_connections() -> None:
    slower = after_window(known(c1=0.2, c4=0.2), a_window(2.0), 4, NOW)
    slower = after_window(slower, a_window(2.0), 4, NOW + 1)
    assert [round(math.exp(level.mean), 3) for level in slower.levels.values()] == [2.0, 2.0]


def test_a_fast_host_is_not_slowed_down_for_being_less_fast() -> None:
    assert after_window(known(c1=0.01, c4=0.09), a_window(0.09), 4, NOW).connections == 5


def test_a_window_has_enough_responses_once_their_mean_is_known() -> None:
    asked = known(c1=0.5, c4=0.5)
    assert not is_full(asked, a_window(0.5, responses=7, since=NOW - 3), NOW)
    assert is_full(asked, a_window(0.5, responses=8, since=NOW - 3), NOW)
    assert not is_full(asked, a_window(0.5, responses=50, since=NOW - 0.5), NOW)


def test_the_first_window_with_a_new_limit_lasts_for_several_responses_or_it_has_the_fast_ones_only() -> None:
    changed = replace(known(c1=1.0, c4=1.0), changed_at=NOW - 2)
    assert not is_full(changed, a_window(1.0, since=NOW - 2), NOW)
    assert is_full(changed, a_window(1.0, since=NOW - 2), NOW + 1.1)


@pytest.mark.parametrize(("seconds", "responses"), [(0.02, 12), (0.1, 8), (0.15, 8), (0.3, 12)])
def test_at_first_a_window_ends_after_one_response_of_each_connection_or_half_as_many_more(
    seconds: float, responses: int
) -> None:
    starting = replace(known(c1=seconds), limit=8.0, is_starting=True, seconds=seconds)
    assert not is_full(starting, a_window(seconds, responses=responses - 1), NOW)
    assert is_full(starting, a_window(seconds, responses=responses), NOW)


def test_a_failure_halves_the_limit_and_the_next_one_does_so_again() -> None:
    assert [each.connections for each in failed(known(c1=0.2, c4=0.2), 2, status=503)] == [2, 1]


def test_failures_of_requests_that_were_under_way_count_once() -> None:
    (cut,) = failed(known(c1=0.2, c4=0.2), 1, status=503)
    assert not throttle.counts(cut, began=NOW - 0.1)
    assert throttle.counts(cut, began=NOW + 0.1)


def test_one_failure_in_twenty_is_no_sign_but_a_429_is() -> None:
    mostly_good = after_responses(known(c1=0.2, c4=0.2), 30, NOW, NOW)
    assert after_failure(mostly_good, 4, 503, NOW).connections == 4
    assert after_failure(mostly_good, 4, 429, NOW).connections == 2


def test_a_limit_that_failed_is_not_tried_again_for_a_while() -> None:
    (cut,) = failed(known(c1=0.2, c8=0.2), 1, status=503)
    cut = after_responses(cut, 1, NOW, NOW)
    assert cut.limit == 2
    grown = cut
    for second in range(1, 7):
        grown = after_window(grown, a_window(0.2, since=NOW), grown.connections, NOW + second)
    assert grown.limit == 3  # of the 4 with which it failed
    assert after_window(grown, a_window(0.2, since=NOW), 3, NOW + CEILING_S + 1).limit == 4


def test_below_one_connection_it_is_a_delay() -> None:
    slowed = after_responses(failed(known(c1=0.2), 1, status=429)[-1], 1, NOW, NOW)
    assert (slowed.limit, slowed.connections, slowed.delay) == (0.5, 1, pytest.approx(0.4))
    recovering = after_window(slowed, a_window(0.2), 1, NOW + 9)
    assert 0.2 < recovering.delay < 0.4


def test_until_it_responds_a_host_that_fails_is_asked_ever_less_often() -> None:
    assert [each.delay for each in failed(known(c1=0.2, c4=0.2), 6)] == [0.25, 0.5, 1.0, 2.0, 4.0, MAX_DELAY_S]
    assert failed(known(c1=0.2, c4=0.2), 12, status=429)[-1].delay >= MAX_REFUSED_DELAY_S


def test_a_host_that_was_down_starts_with_half_of_its_connections_and_without_a_delay() -> None:
    down = failed(known(c1=0.2, c4=0.2), 6)[-1]
    risen = after_responses(down, 1, NOW + 59, NOW + 60)
    assert (down.connections, risen.connections, risen.delay) == (1, 2, 0.0)
    assert after_window(risen, a_window(0.2), 2, NOW + 62).connections == 4


def test_a_response_to_a_request_sent_before_the_last_failure_ends_nothing() -> None:
    down = failed(known(c1=0.2, c4=0.2), 3)[-1]
    assert after_responses(down, 1, NOW + 1, NOW + 2).delay == down.delay
    assert after_responses(down, 1, NOW + 2, NOW + 3).delay == 0.0


def test_the_share_of_failures_is_that_of_the_last_hundred_or_so() -> None:
    mixed = after_responses(failed(Throttle(), 3, status=503)[-1], 7, NOW + 9, NOW + 9)
    assert mixed.failed_share == pytest.approx(0.3, abs=0.05)
    assert after_responses(mixed, 300, NOW + 9, NOW + 9).failed_share < 0.01


def test_what_a_later_version_has_stored_of_a_slowdown_is_read() -> None:
    assert Slowdown.from_plain({"connections": 2, "later": 1}) == Slowdown(2)


def test_it_is_forgotten_without_news_and_not_by_a_clock_that_goes_back() -> None:
    slowed = failed(known(c1=0.2, c4=0.2), 3, status=503)[-1]
    assert after_silence(slowed, NOW + FORGET_S + 60) == Throttle()
    assert after_silence(slowed, NOW - 3600.0) == slowed


EVENT = st.tuples(
    st.floats(0.0, 30.0),
    st.floats(0.001, 30.0),
    st.integers(1, 100),
    st.sampled_from(["ok", "ok", "503", "429", "none"]),
)


@given(st.lists(EVENT, max_size=60), st.integers(1, 64))
def test_whatever_happens_limit_and_delay_stay_within_bounds(
    events: list[tuple[float, float, int, str]], most: int
) -> None:
    found, now = Throttle(), NOW
    for passed, seconds, responses, what in events:
        now += passed
        if what == "ok":
            found = after_responses(found, responses, now - seconds, now)
            found = after_window(found, a_window(seconds, responses, since=now - 5), found.allowed(most), now)
        else:
            found = after_failure(found, most, None if what == "none" else int(what), now)
        assert throttle.LEAST <= found.limit <= LEVELS[-1]
        assert found.limit < 1 or found.limit in LEVELS
        assert 0.0 <= found.delay <= MAX_REFUSED_DELAY_S
        assert 1 <= found.allowed(most) <= most


LATER = {"steady, 5 s": 0.8}
"""Scenes in which it settles later than after ten seconds, with the share of the best that it reaches nevertheless:
doubling up to 16 connections takes two responses each."""


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("most", [4, pytest.param(16, marks=pytest.mark.long)])
def test_ten_seconds_on_a_host_is_fetched_from_at_nearly_its_best_rate(scene: str, most: int) -> None:
    host, seconds = SCENES[scene], 80.0
    begin = 10.0 + (host.recovers_at or 0.0)
    best = best_fixed(host, most, seconds).rate(begin, seconds)
    found = crawl(host.host(), Throttled(most), seconds)
    assert found.rate(begin, seconds) >= LATER.get(scene, 0.85) * best


@pytest.mark.parametrize("scene", [name for name in SCENES if "429" in name or "503" in name])
def test_a_host_that_refuses_what_is_too_much_refuses_few_requests(scene: str) -> None:
    found = crawl(SCENES[scene].host(), Throttled(16), 80.0)
    assert found.failures <= max(40, 0.05 * len(found.pages))


@pytest.mark.parametrize("scene", [name for name in SCENES if "steady" in name or "pauses" in name])
def test_a_steady_host_gets_every_connection_at_any_response_time(scene: str) -> None:
    found = crawl(SCENES[scene].host(), Throttled(4), 80.0)
    assert [connections for _, connections, _ in found.limits].count(4) >= 0.85 * len(found.limits)
    assert all(delay == 0 for *_, delay in found.limits)


@pytest.mark.parametrize(
    ("outcome", "http_status", "is_one"),
    [
        (Outcome.TIMEOUT, None, True),
        (Outcome.CONNECT, None, True),
        (Outcome.CLIENT_ERROR, 429, True),
        (Outcome.SERVER_ERROR, 503, True),
        (Outcome.SERVER_ERROR, 500, False),
        (Outcome.CLIENT_ERROR, 404, False),
        (Outcome.SUCCESS, 200, False),
        (Outcome.TLS, None, False),
    ],
)
def test_what_counts_as_a_failure_of_the_host(outcome: Outcome, http_status: int | None, is_one: bool) -> None:
    assert host_rules.is_failure(outcome, http_status) is is_one
