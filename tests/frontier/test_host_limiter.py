"""The limiter keeps one host's connections and delay over all workers and all crawls."""

import time

import pytest
from redis import Redis

from crawler.core.politeness.host_rules import Refusal
from crawler.core.politeness.throttle import FORGET_S, Throttle
from crawler.frontier import keys
from crawler.frontier.host_limiter import (
    EXCESS_POLL_S,
    MAX_GRANT_HOLD_S,
    POLICY_RECHECK_S,
    TRIAL_POLL_S,
    TRIAL_TIMEOUT_S,
    WANTED_S,
    Grant,
    HostLimiter,
    HostPolicy,
    SlotResult,
)
from crawler.frontier.host_state import HostStates

HOST = "example.com"
NOW = 1_000_000.0
ONE, TWO = HostPolicy("a-crawl", connections=1), HostPolicy("a-crawl", connections=2)
SLOW = HostPolicy("a-crawl", delay=10, connections=2)


@pytest.fixture
def limiter(redis: Redis) -> HostLimiter:
    return HostLimiter(redis, slot_seconds=10)


def asked(limiter: HostLimiter, wish: HostPolicy, now: float, holder: str = "a") -> bool:
    """Whether a request could be sent now; then it is."""
    granted = limiter.request_grant(HOST, holder, wish, now).granted
    if granted:
        limiter.note_sent(HOST, holder, now)
    return granted


def test_no_more_holders_enter_than_the_host_has_connections(limiter: HostLimiter) -> None:
    assert limiter.take_slot(HOST, "a", TWO, NOW)
    assert limiter.take_slot(HOST, "b", TWO, NOW)
    assert not limiter.take_slot(HOST, "c", TWO, NOW)


def test_a_slot_that_was_asked_for_in_vain_is_wanted_for_a_moment(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", ONE, NOW)
    assert not limiter.is_wanted(HOST, NOW)
    limiter.take_slot(HOST, "b", ONE, NOW)
    assert limiter.is_wanted(HOST, NOW + WANTED_S / 2)
    assert not limiter.is_wanted(HOST, NOW + 2 * WANTED_S)
    assert not limiter.is_wanted(HOST, NOW - 1.0)  # the clock was set back


def test_of_two_crawls_the_fewest_connections_count(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", HostPolicy("another", connections=1), NOW)
    assert not limiter.take_slot(HOST, "b", TWO, NOW)


def test_the_policy_of_a_crawl_that_left_expires(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", HostPolicy("another", connections=1), NOW)
    limiter.release_slot(HOST, "a")
    assert limiter.take_slot(HOST, "b", TWO, NOW + 11)
    assert limiter.take_slot(HOST, "c", TWO, NOW + 11)


def test_a_holder_renews_its_own_slot(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", ONE, NOW)
    assert limiter.take_slot(HOST, "a", ONE, NOW + 5)
    assert not limiter.take_slot(HOST, "b", ONE, NOW + 14)


def test_a_slot_left_is_free(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", ONE, NOW)
    limiter.release_slot(HOST, "a")
    assert limiter.take_slot(HOST, "b", ONE, NOW)


def test_the_slot_of_a_dead_holder_is_free_after_a_while(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", ONE, NOW)
    assert limiter.take_slot(HOST, "b", ONE, NOW + 10)


def test_grants_are_a_delay_apart(limiter: HostLimiter) -> None:
    wish = HostPolicy("a-crawl", delay=0.5)
    limiter.take_slot(HOST, "a", wish, NOW)
    moments = [NOW + step / 10 for step in range(16) if asked(limiter, wish, NOW + step / 10)]
    assert moments == [NOW, NOW + 0.5, NOW + 1.0, NOW + 1.5]


def test_without_a_delay_every_holder_gets_a_grant(limiter: HostLimiter) -> None:
    assert limiter.request_grant(HOST, "a", TWO, NOW).granted
    assert limiter.request_grant(HOST, "b", TWO, NOW).granted


def test_a_holder_that_is_too_early_gets_a_wait_and_no_grant(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", SLOW, NOW)
    asked(limiter, SLOW, NOW)
    for _ in range(2):
        turn = limiter.request_grant(HOST, "b", SLOW, NOW + 1)
        assert not turn.granted
        assert turn.next_at == pytest.approx(NOW + 10, abs=1e-5)


def test_the_delay_counts_from_the_moment_the_request_was_sent(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", SLOW, NOW)
    limiter.request_grant(HOST, "a", SLOW, NOW)
    limiter.note_sent(HOST, "a", NOW + 3)
    assert not limiter.request_grant(HOST, "b", SLOW, NOW + 12.9).granted
    assert limiter.request_grant(HOST, "b", SLOW, NOW + 13).granted


def test_an_unused_grant_holds_back_the_others_until_it_expires(limiter: HostLimiter) -> None:
    wish = HostPolicy("a-crawl", delay=1)
    limiter.take_slot(HOST, "a", wish, NOW)
    limiter.request_grant(HOST, "a", wish, NOW)
    assert not limiter.request_grant(HOST, "b", wish, NOW + MAX_GRANT_HOLD_S - 0.1).granted
    assert limiter.request_grant(HOST, "b", wish, NOW + MAX_GRANT_HOLD_S).granted


def test_hosts_do_not_wait_for_one_another(limiter: HostLimiter) -> None:
    asked(limiter, SLOW, NOW)
    assert limiter.request_grant("other.example", "a", TWO, NOW).granted


def test_of_two_crawls_the_longest_delay_counts(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", SLOW, NOW)
    asked(limiter, SLOW, NOW)
    hurried = HostPolicy("another", delay=0)
    assert not limiter.request_grant(HOST, "b", hurried, NOW + 9).granted
    assert limiter.request_grant(HOST, "b", hurried, NOW + 10).delay == 10


def test_a_crawl_with_a_delay_begins_once_the_others_know_the_delay(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", HostPolicy("another", connections=2), NOW)
    limiter.take_slot(HOST, "b", SLOW, NOW)
    turn = limiter.request_grant(HOST, "b", SLOW, NOW)
    assert not turn.granted
    assert turn.next_at == pytest.approx(NOW + POLICY_RECHECK_S + 10, abs=1e-5)


def test_a_crawl_delay_that_is_learnt_counts_from_that_moment(limiter: HostLimiter) -> None:
    """robots.txt was asked for just then."""
    limiter.take_slot(HOST, "a", ONE, NOW)
    limiter.request_grant(HOST, "a", ONE, NOW)
    assert not limiter.request_grant(HOST, "a", HostPolicy("a-crawl", delay=2), NOW + 0.1).granted


@pytest.mark.parametrize("delay", [60 / 45, 60 / 18, 0.1 + 0.2, 1 / 3])
def test_a_delay_with_many_digits_is_no_longer_than_itself(limiter: HostLimiter, delay: float) -> None:
    wish = HostPolicy("crawl", delay=delay)
    limiter.take_slot(HOST, "one", wish, NOW)
    assert limiter.request_grant(HOST, "one", wish, NOW).granted
    limiter.note_sent(HOST, "one", NOW)
    assert limiter.request_grant(HOST, "one", wish, NOW + delay + 0.001).granted


def refused(page: str, status: int = 429, wait: float = 3600.0) -> Refusal:
    return Refusal(page, status, wait)


def test_a_host_that_is_stopped_is_asked_by_no_crawl(limiter: HostLimiter) -> None:
    until = limiter.note_refusal(HOST, refused("/a", wait=5), NOW, longest=300).until
    for wish in (TWO, HostPolicy("another")):
        turn = limiter.request_grant(HOST, "a", wish, NOW + 4.9)
        assert (turn.granted, turn.next_at, turn.on_trial) == (False, until, True)
    assert limiter.request_grant(HOST, "a", TWO, until).granted


def test_what_was_refused_is_remembered_as_it_was(limiter: HostLimiter, redis: Redis) -> None:
    limiter.note_refusal(HOST, refused("/a", 503), NOW, longest=300)
    stop = limiter.note_refusal(HOST, refused("/b"), NOW + 1, longest=300)
    assert HostStates(redis).read([HOST], NOW + 1)[HOST].stop == stop
    assert (stop.status, stop.stops, dict(stop.refusals)) == (429, 1, {"/a": NOW, "/b": NOW + 1})


def test_after_a_stop_one_slice_asks_and_the_others_wait_for_what_comes_of_it(limiter: HostLimiter) -> None:
    until = limiter.note_refusal(HOST, refused("/a"), NOW, longest=300).until
    assert limiter.request_grant(HOST, "a", TWO, until).granted
    others = limiter.request_grant(HOST, "b", TWO, until + 1)
    assert (others.granted, others.next_at) == (False, pytest.approx(until + 1 + TRIAL_POLL_S))
    limiter.clear_stop(HOST)
    assert limiter.request_grant(HOST, "b", TWO, until + 1) == Grant(True, until + 1, delay=0.0, is_for_all=True)


def test_a_slice_that_tries_a_page_and_dies_is_not_waited_for_for_ever(limiter: HostLimiter) -> None:
    until = limiter.note_refusal(HOST, refused("/a"), NOW, longest=300).until
    limiter.request_grant(HOST, "a", TWO, until)
    assert not limiter.request_grant(HOST, "b", TWO, until + TRIAL_TIMEOUT_S - 0.1).granted
    assert limiter.request_grant(HOST, "b", TWO, until + TRIAL_TIMEOUT_S).granted


def test_on_trial_the_delay_is_kept_as_well(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "a", SLOW, NOW)
    asked(limiter, SLOW, NOW)
    until = limiter.note_refusal(HOST, refused("/a", wait=3), NOW, longest=300).until
    assert limiter.request_grant(HOST, "a", SLOW, until).next_at == pytest.approx(NOW + 10)
    assert limiter.request_grant(HOST, "a", SLOW, NOW + 10).granted


def test_a_page_that_is_refused_on_trial_allows_the_next_one(limiter: HostLimiter) -> None:
    until = limiter.note_refusal(HOST, refused("/a", wait=5), NOW, longest=300).until
    limiter.request_grant(HOST, "a", TWO, until)
    until = limiter.note_refusal(HOST, refused("/b", wait=40), until, longest=300).until
    assert until == NOW + 45
    assert limiter.request_grant(HOST, "b", TWO, until).granted


def trouble(redis: Redis, crawl: str, times: int = 8) -> None:
    """Failures in a row, each of a request sent after the one before."""
    throttles = HostStates(redis).throttles
    for _ in range(times):
        throttles.note_failure(HOST, seconds=0.0, connections=4, status=None, now=NOW, crawl=crawl)


def test_the_throttle_counts_for_those_who_want_it(limiter: HostLimiter, redis: Redis) -> None:
    trouble(redis, "a-crawl", times=1)
    assert limiter.request_grant(HOST, "a", TWO, NOW).delay == 0.25
    assert limiter.request_grant(HOST, "b", HostPolicy("another", throttled=False), NOW).delay == 0.0


def test_the_throttle_is_forgotten_without_news(limiter: HostLimiter, redis: Redis) -> None:
    trouble(redis, "a-crawl")
    assert limiter.request_grant(HOST, "a", TWO, NOW + FORGET_S).delay == 4.0
    assert limiter.request_grant(HOST, "a", TWO, NOW + FORGET_S + 1).delay == 0.0
    limiter.take_slot(HOST, "a", TWO, NOW + FORGET_S + 1)
    assert limiter.take_slot(HOST, "b", TWO, NOW + FORGET_S + 1)


def limit(redis: Redis, connections: int) -> None:
    redis.hset(keys.host(HOST), mapping={"limit": connections, "delay_at": NOW})


def test_no_more_holders_enter_than_the_throttle_allows(limiter: HostLimiter, redis: Redis) -> None:
    assert limiter.take_slot(HOST, "a", TWO, NOW)
    limit(redis, 1)
    assert not limiter.take_slot(HOST, "b", TWO, NOW)
    assert limiter.take_slot(HOST, "b", HostPolicy("another", connections=2, throttled=False), NOW)


def test_of_holders_that_are_too_many_by_now_some_wait_until_others_have_left(
    limiter: HostLimiter, redis: Redis
) -> None:
    names = ["a:1", "a:2", "b:3"]
    four = HostPolicy("a-crawl", connections=4)
    for name in names:
        limiter.take_slot(HOST, name, four, NOW)
    limit(redis, 1)
    grants = {name: limiter.request_grant(HOST, name, four, NOW) for name in names}
    (first,) = [name for name, grant in grants.items() if grant.granted]
    assert {grant.next_at for name, grant in grants.items() if name != first} == {NOW + EXCESS_POLL_S}
    limiter.release_slot(HOST, first)
    assert [limiter.request_grant(HOST, name, four, NOW).granted for name in names if name != first].count(True) == 1


def test_holders_that_are_too_many_are_chosen_over_all_crawls(limiter: HostLimiter, redis: Redis) -> None:
    """By the ends of their names, which are random: a crawl whose id is the first is not preferred."""
    crawls = ["a", "b", "c", "d"]
    for crawl in crawls:
        for number in range(4):
            limiter.take_slot(HOST, f"{crawl}:{crawl}{number}", HostPolicy(crawl, connections=16), NOW)
    limit(redis, 4)
    granted = [
        crawl
        for crawl in crawls
        for number in range(4)
        if limiter.request_grant(HOST, f"{crawl}:{crawl}{number}", HostPolicy(crawl, connections=16), NOW).granted
    ]
    assert granted == crawls


def test_a_new_crawl_of_a_host_that_no_other_crawls_starts_the_throttle_from_nothing(
    limiter: HostLimiter, redis: Redis
) -> None:
    trouble(redis, "the-one-before")
    assert limiter.take_slot(HOST, "a", TWO, NOW) is SlotResult.FIRST_TIME
    assert HostStates(redis).read([HOST], NOW)[HOST].throttle == Throttle()


def test_a_crawl_that_has_just_ended_does_not_count_as_one_beside_it(limiter: HostLimiter, redis: Redis) -> None:
    limiter.take_slot(HOST, "a", HostPolicy("the-one-before", connections=2), NOW)
    trouble(redis, "the-one-before")
    limiter.release_slot(HOST, "a")
    limiter.take_slot(HOST, "b", TWO, NOW + 1)
    assert HostStates(redis).read([HOST], NOW + 1)[HOST].throttle == Throttle()


def test_a_new_crawl_beside_others_tries_once_and_leaves_what_they_learned(limiter: HostLimiter, redis: Redis) -> None:
    limiter.take_slot(HOST, "a", HostPolicy("another", connections=2), NOW)
    trouble(redis, "another", times=1)
    assert limiter.take_slot(HOST, "b", TWO, NOW) is SlotResult.FIRST_TIME
    known = HostStates(redis).read([HOST], NOW)[HOST].throttle
    assert (known.connections, known.delay) == (2, 0.25)


def test_a_crawl_is_new_to_a_host_once(limiter: HostLimiter, redis: Redis) -> None:
    trouble(redis, "the-one-before")
    limiter.take_slot(HOST, "a", TWO, NOW)
    trouble(redis, TWO.crawl)
    assert limiter.take_slot(HOST, "a", TWO, NOW + 1) is SlotResult.TAKEN
    assert limiter.take_slot(HOST, "b", TWO, NOW + 600) is SlotResult.TAKEN


def test_a_crawl_that_met_the_host_s_trouble_itself_is_not_new_to_it(limiter: HostLimiter, redis: Redis) -> None:
    limiter.take_slot(HOST, "a", TWO, NOW)
    trouble(redis, TWO.crawl)
    assert limiter.take_slot(HOST, "a", TWO, NOW) is SlotResult.TAKEN
    assert limiter.request_grant(HOST, "a", TWO, NOW).delay == 4.0


def test_a_grant_before_the_clock_was_set_back_does_not_hold_up_others(limiter: HostLimiter) -> None:
    """As when another Redis takes over; the delay is kept all the same."""
    limiter.take_slot(HOST, "dead", SLOW, NOW)
    assert limiter.request_grant(HOST, "dead", SLOW, NOW).granted
    back = NOW - 600
    assert not asked(limiter, SLOW, back, "b")
    assert not asked(limiter, SLOW, back + 9, "b")
    assert asked(limiter, SLOW, back + 10, "b")


def test_a_connection_taken_before_the_clock_was_set_back_is_free(limiter: HostLimiter) -> None:
    limiter.take_slot(HOST, "dead", ONE, NOW)
    assert limiter.take_slot(HOST, "b", ONE, NOW - 600)


LATE = 15.0  # seconds for which the kernel of a worker that was cut off has held back its call


def test_a_call_that_comes_late_does_not_take_the_slot_of_another_holder(limiter: HostLimiter) -> None:
    now = time.time()
    assert limiter.take_slot(HOST, "a", ONE, now)
    assert not limiter.take_slot(HOST, "late", ONE, now - LATE)
    assert not limiter.take_slot(HOST, "b", ONE, now)


def test_a_renewal_that_comes_late_does_not_shorten_a_later_one(limiter: HostLimiter) -> None:
    now = time.time()
    assert limiter.take_slot(HOST, "a", ONE, now)
    assert limiter.take_slot(HOST, "a", ONE, now - LATE)
    assert not limiter.take_slot(HOST, "b", ONE, now + 9)


def test_requests_keep_their_delay_when_a_call_comes_late(limiter: HostLimiter) -> None:
    now = time.time()
    limiter.take_slot(HOST, "a", SLOW, now)
    assert asked(limiter, SLOW, now)
    assert not asked(limiter, SLOW, now - LATE, "late")
    limiter.note_sent(HOST, "late", now - LATE)
    assert not asked(limiter, SLOW, now + 9)
