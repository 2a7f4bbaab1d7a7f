"""What dead workers held and what RQ lost comes back; what merely waits is left alone (rule R4)."""

from __future__ import annotations

import pytest
from redis import Redis

from crawler import conf, pages, queues
from crawler.core.discovery import Discovery
from crawler.core.outcomes import Outcome
from crawler.core.work import PageResult
from crawler.engine.desk import Desk, desk_of
from crawler.engine.dispatch import dispatch
from crawler.engine.repair import STARTED_GRACE, repair
from crawler.frontier.frontier import Frontier
from crawler.frontier.leases import LEASE_SECONDS, Lease
from crawler.frontier.window import LOOK_AFTER
from crawler.models import Page
from tests.engine.conftest import Bench


class Handed:
    """A crawl whose start page is handed out, on a clock of its own."""

    def __init__(self, bench: Bench) -> None:
        bench.start()
        self.time = 1_000_000.0
        plain = desk_of(bench.crawl)
        frontier = Frontier(plain.frontier.redis, str(bench.crawl.id), clock=lambda: self.time)
        self.desk = Desk(bench.crawl, plain.options, frontier)
        dispatch(self.desk)

    @property
    def lease(self) -> Lease:
        (batch,) = self.redis.zrange(self.desk.frontier.keys.leases, 0, -1)
        lease = self.desk.frontier.leases.get(batch.decode())
        assert lease is not None
        return lease

    @property
    def redis(self) -> Redis:
        return self.desk.frontier.redis

    @property
    def page(self) -> Page:
        return Page.objects.get()

    def lose_the_job(self) -> None:
        """What is left when a worker is killed between popping a job and starting it."""
        self.redis.delete("rq:queue:fetch")

    def is_back(self) -> bool:
        frontier = self.desk.frontier
        return (
            frontier.leases.outstanding() == 0
            and frontier.window.count(0).waiting == 1
            and frontier.window.taken() == 0
        )


@pytest.fixture
def handed(bench: Bench) -> Handed:
    return Handed(bench)


def test_a_batch_that_waits_in_the_queue_is_never_late(handed: Handed) -> None:
    for _ in range(20):
        handed.time += 60
        assert repair(handed.desk) == 0
    assert not handed.lease.held


def test_a_lost_job_is_found_on_the_second_look(handed: Handed) -> None:
    handed.lose_the_job()
    handed.time += LOOK_AFTER
    assert repair(handed.desk) == 0
    handed.time += LOOK_AFTER
    assert repair(handed.desk) == 1
    assert handed.is_back()
    assert handed.page.attempts == 0  # nobody had it in hand


def test_a_job_that_was_only_between_two_lists_is_left_alone(handed: Handed) -> None:
    jobs = handed.redis.lrange("rq:queue:fetch", 0, -1)
    handed.lose_the_job()
    handed.time += LOOK_AFTER
    repair(handed.desk)
    handed.redis.rpush("rq:queue:fetch", *jobs)
    handed.time += LOOK_AFTER
    assert repair(handed.desk) == 0
    assert handed.lease.absent_since is None


def test_a_job_that_started_and_never_claimed_its_batch_is_given_more_time(handed: Handed) -> None:
    batch = handed.lease.batch
    handed.lose_the_job()
    handed.redis.zadd("rq:wip:fetch", {f"{batch}:execution": 2e9})
    assert batch in queues.started(queues.FETCH)
    begun = handed.time
    while repair(handed.desk) == 0:
        handed.time += LOOK_AFTER
        assert handed.time - begun <= STARTED_GRACE + 2 * LOOK_AFTER
    assert handed.time - begun > STARTED_GRACE
    assert handed.is_back()


def test_a_claim_that_is_renewed_is_left_alone(handed: Handed) -> None:
    lease = handed.lease
    handed.desk.frontier.leases.claim(lease.batch, lease.token, handed.time)
    for _ in range(5):
        handed.time += LEASE_SECONDS - 1
        handed.desk.frontier.leases.renew(lease.batch, lease.token, handed.time)
        assert repair(handed.desk) == 0


def test_a_claim_that_ran_out_gives_its_pages_back_and_counts_the_attempt(handed: Handed) -> None:
    lease = handed.lease
    handed.desk.frontier.leases.claim(lease.batch, lease.token, handed.time)
    handed.time += LEASE_SECONDS
    assert repair(handed.desk) == 1
    assert handed.is_back()
    assert handed.page.attempts == 1


def test_a_page_whose_worker_dies_each_time_is_given_up(handed: Handed) -> None:
    for _ in range(3):
        lease = handed.lease
        handed.desk.frontier.leases.claim(lease.batch, lease.token, handed.time)
        handed.time += LEASE_SECONDS
        repair(handed.desk)
        dispatch(handed.desk)
    assert handed.page.outcome == Outcome.CRASHED
    assert "died 3 times" in handed.page.error


class TestPoison:
    """A page that kills whoever works on it costs its own outcome, and not that of the pages it travels with."""

    @pytest.fixture
    def handed(self, bench: Bench) -> Handed:
        handed = Handed(bench)
        handed.desk.frontier.take_back(handed.lease, [])
        start = handed.page
        found = [Discovery(f"{bench.site.url}/{number}", 1, 0, start.id) for number in range(40)]
        result = PageResult(id=start.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200)
        pages.apply(bench.crawl.id, [result], [], found, handed.time)
        return handed

    def run(self, handed: Handed, poison: int) -> list[int]:
        """Work on what is handed out until nothing is; how many pages each batch held that died of the poison."""
        deaths = []
        while dispatch(handed.desk):
            for lease, _ in handed.desk.frontier.leases.all():
                in_hand = [page for _, ids in lease.slices.values() for page in ids]
                if poison in in_hand:
                    handed.desk.frontier.leases.claim(lease.batch, lease.token, handed.time)
                    deaths.append(len(in_hand))
                else:
                    self.close(handed, lease, in_hand)
            handed.time += LEASE_SECONDS
            repair(handed.desk)
        return deaths

    def close(self, handed: Handed, lease: Lease, in_hand: list[int]) -> None:
        results = [PageResult(id=page, attempt=1, outcome=Outcome.SUCCESS, http_status=200) for page in in_hand]
        pages.apply(handed.desk.id, results, [], [], handed.time)
        for number, (lane, _) in lease.slices.items():
            handed.desk.frontier.leases.settle(lease.batch, lease.token, number, lane, (), 0)

    def test_the_batch_is_split_until_the_page_is_alone(self, handed: Handed) -> None:
        poison = Page.objects.get(url__endswith="/17").id
        assert self.run(handed, poison) == [24, 8, 1]
        crashed = Page.objects.get(outcome=Outcome.CRASHED)
        assert (crashed.id, crashed.attempts, crashed.deaths) == (poison, 3, 3)
        assert Page.objects.filter(outcome=Outcome.SUCCESS).count() == 40
        assert [letter for letter, _ in handed.desk.frontier.dead.newest(9)] == [poison]

    @pytest.mark.parametrize(("max_attempts", "deaths"), [(2, [24, 1]), (1, [24, 1]), (4, [24, 8, 8, 1])])
    def test_however_many_attempts_there_are_the_last_one_is_made_alone(
        self, handed: Handed, monkeypatch: pytest.MonkeyPatch, max_attempts: int, deaths: list[int]
    ) -> None:
        """With a single attempt the page has one more: while it was in company nobody can say whose fault it was."""
        monkeypatch.setattr(conf, "max_attempts", lambda: max_attempts)
        poison = Page.objects.get(url__endswith="/17").id
        assert self.run(handed, poison) == deaths
        assert Page.objects.get(outcome=Outcome.CRASHED).id == poison


def test_a_death_whose_tick_died_after_counting_it_is_counted_once(handed: Handed) -> None:
    lease = handed.lease
    handed.desk.frontier.leases.claim(lease.batch, lease.token, handed.time)
    handed.time += LEASE_SECONDS
    pages.count_lost_attempts(handed.desk.id, [handed.page.id], lease.token, handed.time, blamed_from=None)
    repair(handed.desk)
    assert (handed.page.attempts, handed.page.deaths) == (1, 1)
