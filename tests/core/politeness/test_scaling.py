"""How many workers would be useful: by what hosts allow, by what a worker can do, and without flapping."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.core.politeness.scaling import (
    LOWER_AFTER_S,
    PAGE_CPU_S,
    WORKER_START_S,
    Demand,
    HostWork,
    Steady,
    connections_of,
    demand,
    places_of_worker,
    shares,
    smoothed,
    workers_wanted,
)

PLACES = 256


def a_host(host: str = "a.test", **fields: object) -> HostWork:
    """A host of one crawl with many pages, sixteen connections and a response in 100 ms."""
    values = {"crawl": "crawl", "pages": 5_000, "connections": 16, "response_s": 0.1, **fields}
    return HostWork(host=host, **values)  # type: ignore[arg-type]


def wanted(
    *works: HostWork, managers: int = 0, places: int = PLACES, batches: int = 10_000, page_cpu_s: float = PAGE_CPU_S
) -> int:
    return workers_wanted(demand(works), places=places, batches=batches, managers=managers, page_cpu_s=page_cpu_s)


def hosts(number: int, **fields: object) -> list[HostWork]:
    return [a_host(f"{place}.test", **fields) for place in range(number)]


# By hosts.


def test_nothing_to_do_takes_no_worker() -> None:
    assert wanted() == 0
    assert wanted(a_host(pages=0)) == 0


def test_a_tick_that_waits_takes_one_worker_and_a_hundred_take_no_more() -> None:
    assert wanted(managers=1) == 1
    assert wanted(managers=100) == 1


def test_one_site_of_usual_speed_is_served_by_one_worker() -> None:
    assert wanted(a_host()) == 1  # 160 pages a second


def test_ten_such_sites_take_as_many_workers_as_their_pages_take_of_the_cpu() -> None:
    assert wanted(*hosts(10)) == 4  # 1,600 pages a second, of which a worker does 400


def test_a_faster_site_takes_more_but_never_more_than_its_connections() -> None:
    assert wanted(a_host(pages=50_000, response_s=0.01)) == 4
    assert wanted(a_host(pages=50_000, response_s=0.001)) == 13
    assert wanted(a_host(pages=50_000, response_s=0.001, connections=2)) == 2


def test_few_pages_take_no_worker_that_would_come_too_late() -> None:
    many, few = a_host(pages=50_000, response_s=0.001), a_host(pages=400, response_s=0.001)
    assert (wanted(many), wanted(few)) == (13, 1)
    assert few.pages * PAGE_CPU_S < WORKER_START_S


def test_slow_hosts_take_workers_for_their_requests_under_way() -> None:
    assert wanted(*hosts(64, response_s=10.0)) == 4  # 1,024 requests, of which a worker has 256
    assert wanted(*hosts(65, response_s=10.0)) == 5
    assert wanted(*hosts(64, response_s=10.0), places=64) == 16


def test_ten_thousand_hosts_with_a_long_delay_need_places_only_while_they_respond() -> None:
    polite = [HostWork("crawl", "*", pages=100, connections=1, delay=10.0, response_s=0.1, hosts=10_000)]
    assert wanted(*polite) == 3  # 1,000 pages a second; 100 requests under way
    assert wanted(replace(polite[0], delay=2.0)) == 40  # a slice waits for its delay in a place


def test_with_a_short_delay_all_connections_wait_in_places() -> None:
    assert demand([a_host(delay=0.1, response_s=0.01)]).places == pytest.approx(16)


def test_there_are_no_more_requests_than_slices_in_the_batches_that_may_be_out() -> None:
    slow = hosts(1_000, response_s=10.0)  # 16,000 requests under way
    assert wanted(*slow) == 63
    assert wanted(*slow, batches=128) == 16  # 4,096 slices


def test_there_are_no_more_workers_than_batches() -> None:
    assert wanted(*hosts(100, pages=50_000, response_s=0.01)) == 400
    assert wanted(*hosts(100, pages=50_000, response_s=0.01), batches=2) == 2


def test_a_worker_has_the_slices_of_its_batches_under_way() -> None:
    assert [places_of_worker(256, batches) for batches in (0, 1, 8, 100)] == [256, 32, 256, 256]
    assert places_of_worker(16, 1) == 16


def test_the_single_pages_of_many_hosts_are_done_before_another_worker_has_started() -> None:
    singles = HostWork("crawl", "*", pages=1, connections=1, response_s=0.5, hosts=10_000)
    assert wanted(singles) == 3  # 10,000 connections for half a second each, and 25 s of CPU, in ten seconds
    assert wanted(replace(singles, pages=1_000)) == 50  # 20,000 pages a second


def test_a_host_of_two_crawls_counts_once_by_the_strictest_policy() -> None:
    alone = demand([a_host(crawl="first")])
    assert demand([a_host(crawl="first"), a_host(crawl="second")]).connections == alone.connections
    strict = a_host(crawl="second", connections=1, delay=2.0)
    assert demand([a_host(crawl="first"), strict]).pages_per_s == pytest.approx(0.5)


def test_of_several_response_times_of_a_host_the_longest_counts() -> None:
    times = [a_host(crawl=str(place), response_s=seconds) for place, seconds in enumerate((0.1, 2.0, None))]
    assert demand(times).pages_per_s == pytest.approx(8)


def test_requests_of_a_crawl_that_was_paused_still_occupy_their_places() -> None:
    assert demand([a_host(pages=1, in_use=7)]).connections == 7


def test_a_host_that_has_not_responded_gets_one_connection() -> None:
    assert connections_of(0.0, 16, has_answered=False) == 1
    assert [connections_of(delay, 16, has_answered=True) for delay in (0.0, 0.4, 0.5, 10.0)] == [16, 16, 1, 1]


# What always holds.

WORKS = st.lists(
    st.builds(
        HostWork,
        crawl=st.sampled_from(["first", "second"]),
        host=st.sampled_from(["a.test", "b.test", "c.test"]),
        pages=st.integers(0, 100_000),
        connections=st.integers(1, 64),
        delay=st.one_of(st.just(0.0), st.floats(0.01, 300)),
        response_s=st.one_of(st.none(), st.floats(0, 60)),
        in_use=st.integers(0, 64),
        hosts=st.just(1),
    ),
    max_size=8,
)


@given(WORKS, st.integers(0, 3), st.integers(1, 512), st.floats(0.0001, 1))
def test_more_pages_never_take_fewer_workers(works: list[HostWork], managers: int, places: int, cpu: float) -> None:
    for place, work in enumerate(works):
        more = [*works[:place], replace(work, pages=2 * work.pages + 1), *works[place + 1 :]]
        before = wanted(*works, managers=managers, places=places, page_cpu_s=cpu)
        assert wanted(*more, managers=managers, places=places, page_cpu_s=cpu) >= before


@given(WORKS, st.integers(0, 3), st.integers(1, 512), st.floats(0.0001, 1))
def test_there_are_never_more_than_connections(works: list[HostWork], managers: int, places: int, cpu: float) -> None:
    allowed = {work.host: min(other.connections for other in works if other.host == work.host) for work in works}
    found = wanted(*works, managers=managers, places=places, page_cpu_s=cpu)
    assert found <= max(1, sum(allowed.values()))


@given(st.integers(1, 10**9), st.floats(0.5, 60), st.one_of(st.none(), st.floats(0, 60)), st.integers(1, 5))
def test_a_host_with_a_delay_takes_exactly_one(pages: int, delay: float, seconds: float | None, crawls: int) -> None:
    connections = connections_of(delay, 16, has_answered=True)
    polite = [
        a_host(crawl=str(place), pages=pages, delay=delay, response_s=seconds, connections=connections)
        for place in range(crawls)
    ]
    assert wanted(*polite) == 1


@given(WORKS, st.integers(1, 512), st.floats(0.0001, 1))
def test_nothing_due_and_nothing_under_way_takes_none(works: list[HostWork], places: int, cpu: float) -> None:
    idle = [replace(work, pages=0, in_use=0) for work in works]
    assert demand(idle) == Demand(hosts=len({work.host for work in works}))
    assert wanted(*idle, places=places, page_cpu_s=cpu) == 0


@given(WORKS)
def test_the_order_of_crawls_does_not_matter(works: list[HostWork]) -> None:
    assert wanted(*works) == wanted(*reversed(works))


# Without flapping.


def followed(found: Sequence[tuple[float, int]]) -> list[int]:
    """The figures shown, of what was wanted at these moments."""
    known, shown = None, []
    for now, number in found:
        known = smoothed(known, number, now)
        shown.append(known.wanted)
    return shown


def test_it_rises_at_once() -> None:
    assert followed([(0, 0), (1, 3), (2, 9)]) == [0, 3, 9]


def test_it_falls_only_after_a_while_of_less() -> None:
    found = [(second, 5 if second == 0 else 1) for second in range(int(LOWER_AFTER_S) + 3)]
    shown = followed(found)
    assert shown[: int(LOWER_AFTER_S) + 1] == [5] * (int(LOWER_AFTER_S) + 1)
    assert shown[-1] == 1


def test_it_falls_to_the_most_that_was_wanted_meanwhile() -> None:
    found = [(0.0, 9), (1.0, 0), (60.0, 4), (LOWER_AFTER_S + 1, 1), (2 * LOWER_AFTER_S, 1), (2 * LOWER_AFTER_S + 1, 1)]
    assert followed(found) == [9, 9, 9, 4, 4, 1]


def test_a_short_pause_does_not_begin_anew_but_a_return_does() -> None:
    assert followed([(0, 5), (100, 1), (119, 5), (200, 1), (319, 1), (320, 1)]) == [5, 5, 5, 5, 5, 1]


def test_a_clock_that_was_set_back_only_makes_it_wait_again() -> None:
    known = smoothed(Steady(5, lower_since=1_000.0, highest=1), 1, 10.0)
    assert known == Steady(5, 10.0, 1)


@given(st.lists(st.tuples(st.floats(0.1, 200), st.integers(0, 50)), min_size=1))
def test_what_is_shown_is_never_less_than_what_is_wanted(steps: list[tuple[float, int]]) -> None:
    now, found = 0.0, []
    for seconds, number in steps:
        now += seconds
        found.append((now, number))
    shown = followed(found)
    assert all(figure >= number for figure, (_, number) in zip(shown, found, strict=True))
    assert max(shown) == max(number for _, number in found)


# A day of crawls that come and go.

EVERY_S = 15.0  # between two looks, as Prometheus and KEDA take them
DAY_S = 24 * 3600.0


@dataclass(frozen=True)
class Stay:
    """One crawl: from when to when it runs, and what it has to do."""

    begin: float
    end: float
    work: HostWork

    def at(self, now: float, rng: random.Random) -> list[HostWork]:
        """Its due pages come in waves, as pages are found."""
        if not self.begin <= now < self.end:
            return []
        return [replace(self.work, pages=rng.choice([0, 3, 200, 5_000]))]


def a_day(seed: int) -> list[tuple[float, int]]:
    """What is wanted at each look of a day with forty crawls of ten minutes to six hours."""
    rng = random.Random(seed)
    stays = []
    for number in range(40):
        begin = rng.uniform(0, 0.9 * DAY_S)
        kind = rng.choice(["fast", "polite", "many"])
        work = {
            "fast": a_host(f"{number}.test", response_s=rng.uniform(0.005, 0.3)),
            "polite": a_host(f"{number}.test", connections=1, delay=rng.uniform(0.5, 10)),
            "many": a_host(f"{number}.test", connections=4, response_s=rng.uniform(0.1, 5), hosts=200),
        }[kind]
        stays.append(Stay(begin, begin + rng.uniform(600, 6 * 3600), work))
    moments = [place * EVERY_S for place in range(int(DAY_S / EVERY_S))]
    return [(now, wanted(*(work for stay in stays for work in stay.at(now, rng)))) for now in moments]


def changes(figures: Sequence[int]) -> int:
    return sum(before != after for before, after in pairwise(figures))


def falls(figures: Sequence[int]) -> int:
    return sum(before > after for before, after in pairwise(figures))


@pytest.mark.parametrize("seed", range(5))
def test_over_a_day_it_neither_flaps_nor_lags(seed: int) -> None:
    day = a_day(seed)
    raw, shown = [number for _, number in day], followed(day)
    assert max(raw) > 5
    assert changes(raw) > 1_000  # it would flap
    assert changes(shown) < changes(raw) / 5
    assert falls(shown) <= DAY_S / LOWER_AFTER_S
    assert all(figure >= number for figure, number in zip(shown, raw, strict=True))  # it does not lag behind demand
    window = int(2 * LOWER_AFTER_S / EVERY_S) + 2
    for place in range(window, len(raw)):  # nor above it: within two windows it was wanted
        assert shown[place] <= max(raw[place - window : place + 1])


@pytest.mark.parametrize("seed", range(5))
def test_waves_shorter_than_the_window_change_nothing(seed: int) -> None:
    rng = random.Random(seed)
    crest = rng.randint(3, 20)
    found, now = [(0.0, crest)], 0.0
    while now < 3600:
        now += rng.uniform(5, LOWER_AFTER_S / 2)
        found += [(now, rng.randint(0, crest)), (now + 1, crest)]
        now += 1
    assert changes(followed(found)) == 0


# Which autoscaler keeps how many.

RANGES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 8)).map(lambda pair: (min(pair), max(pair))), min_size=1, max_size=6
)


@pytest.mark.parametrize(
    ("wanted_now", "ranges", "kept"),
    [
        (0, [(0, 2), (0, 2)], [0, 0]),
        (1, [(0, 2), (0, 2)], [1, 0]),  # the oldest first
        (3, [(0, 2), (0, 2)], [2, 1]),
        (9, [(0, 2), (0, 2)], [2, 2]),  # no more than the most
        (0, [(1, 2), (1, 2)], [1, 1]),  # no fewer than the least
        (3, [(2, 2), (0, 8)], [2, 1]),
        (1, [(0, 2), (0, 8)], [0, 1]),  # the larger machine first
        (5, [(0, 2), (0, 8)], [1, 4]),  # in proportion to the most
        (4, [(0, 0), (0, 4)], [0, 4]),  # one that leaves
    ],
)
def test_wanted_workers_are_shared(wanted_now: int, ranges: Sequence[tuple[int, int]], kept: list[int]) -> None:
    assert shares(wanted_now, ranges) == kept


@given(st.integers(0, 40), RANGES)
def test_as_many_are_kept_as_are_wanted_and_allowed(wanted_now: int, ranges: list[tuple[int, int]]) -> None:
    kept = shares(wanted_now, ranges)
    assert all(least <= number <= most for number, (least, most) in zip(kept, ranges, strict=True))
    least, most = (sum(bounds) for bounds in zip(*ranges, strict=True))
    assert sum(kept) == min(max(wanted_now, least), most)


@given(st.integers(0, 40), RANGES)
def test_one_more_worker_is_started_and_none_is_moved(wanted_now: int, ranges: list[tuple[int, int]]) -> None:
    before, after = shares(wanted_now, ranges), shares(wanted_now + 1, ranges)
    assert sorted(more - less for less, more in zip(before, after, strict=True))[:-1] == [0] * (len(ranges) - 1)
