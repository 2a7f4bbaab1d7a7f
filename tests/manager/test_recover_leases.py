"""What dead workers held and what RQ lost comes back; what merely waits is left alone (rule R4)."""

import pytest
from redis import Redis

from crawler import conf
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.retries import batch_size
from crawler.frontier.frontier import Frontier
from crawler.frontier.leases import LEASE_TTL_S, CurrentSuspect, Lease
from crawler.frontier.ready_queue import JOB_CHECK_INTERVAL_S
from crawler.manager.context import TickContext, context_of
from crawler.manager.dispatch import dispatch
from crawler.manager.recover_leases import STARTED_GRACE_S, recover_leases
from crawler.models import Crawl, Page
from crawler.queueing import queues
from crawler.reports.receipt import receipt_of
from crawler.storage import deaths, writer
from crawler.storage.writer import Retry
from tests.bench import Bench


class Handed:
    """A crawl whose start page is handed out, on a clock of its own."""

    def __init__(self, bench: Bench, **options: object) -> None:
        bench.start(**options)
        self.time = 1_000_000.0
        plain = context_of(bench.crawl)
        frontier = Frontier(plain.frontier.redis, str(bench.crawl.id), clock=lambda: self.time)
        self.context = TickContext(bench.crawl, plain.options, frontier)
        dispatch(self.context)

    @property
    def lease(self) -> Lease:
        (batch,) = self.redis.zrange(self.context.frontier.keys.leases, 0, -1)
        lease = self.context.frontier.leases.get(batch.decode())
        assert lease is not None
        return lease

    @property
    def redis(self) -> Redis:
        return self.context.frontier.redis

    @property
    def page(self) -> Page:
        return Page.objects.get()

    def repair(self) -> int:
        """As a tick does that was not held up."""
        return recover_leases(self.context, self.context.frontier.leases.overdue(self.time))

    def claim(self) -> Lease:
        """A worker begins with the batch."""
        lease = self.lease
        assert self.context.frontier.leases.claim(lease.batch, lease.token, self.time)
        return lease

    def take_in_hand(self, lease: Lease, page: int) -> None:
        """The worker is about to ask for a suspect."""
        attempt = Page.objects.get(id=page).attempts + 1
        assert self.context.frontier.leases.note_suspect(lease.batch, lease.token, CurrentSuspect(page, attempt))

    def die(self) -> None:
        """The worker does; its claim runs out."""
        self.time += LEASE_TTL_S
        assert self.repair() == 1

    def lose_the_job(self) -> None:
        """What is left when a worker is killed between popping a job and starting it."""
        self.redis.delete("rq:queue:fetch")

    def is_back(self) -> bool:
        frontier = self.context.frontier
        return (
            frontier.leases.outstanding() == 0
            and frontier.ready_queue.counts(0).waiting == 1
            and frontier.ready_queue.handed_out() == 0
        )


@pytest.fixture
def handed(bench: Bench) -> Handed:
    return Handed(bench)


def test_a_batch_that_waits_in_the_queue_is_never_late(handed: Handed) -> None:
    for _ in range(20):
        handed.time += 60
        assert handed.repair() == 0
    assert not handed.lease.held


def test_a_lost_job_is_found_on_the_second_look(handed: Handed) -> None:
    handed.lose_the_job()
    handed.time += JOB_CHECK_INTERVAL_S
    assert handed.repair() == 0
    handed.time += JOB_CHECK_INTERVAL_S
    assert handed.repair() == 1
    assert handed.is_back()
    assert handed.page.attempts == 0  # nobody had it in hand


def test_a_job_that_was_only_between_two_lists_is_left_alone(handed: Handed) -> None:
    jobs = handed.redis.lrange("rq:queue:fetch", 0, -1)
    handed.lose_the_job()
    handed.time += JOB_CHECK_INTERVAL_S
    handed.repair()
    handed.redis.rpush("rq:queue:fetch", *jobs)
    handed.time += JOB_CHECK_INTERVAL_S
    assert handed.repair() == 0
    assert handed.lease.absent_since is None


def test_a_job_that_started_and_never_claimed_its_batch_is_given_more_time(handed: Handed) -> None:
    batch = handed.lease.batch
    handed.lose_the_job()
    handed.redis.zadd("rq:wip:fetch", {f"{batch}:execution": 2e9})
    assert batch in queues.started(queues.FETCH)
    begun = handed.time
    while handed.repair() == 0:
        handed.time += JOB_CHECK_INTERVAL_S
        assert handed.time - begun <= STARTED_GRACE_S + 2 * JOB_CHECK_INTERVAL_S
    assert handed.time - begun > STARTED_GRACE_S
    assert handed.is_back()


def test_a_claim_that_is_renewed_is_left_alone(handed: Handed) -> None:
    lease = handed.lease
    handed.context.frontier.leases.claim(lease.batch, lease.token, handed.time)
    for _ in range(5):
        handed.time += LEASE_TTL_S - 1
        handed.context.frontier.leases.renew(lease.batch, lease.token, handed.time)
        assert handed.repair() == 0


def test_a_worker_that_dies_before_it_asked_for_a_page_is_not_counted_against_it(handed: Handed) -> None:
    handed.claim()
    handed.die()
    assert handed.is_back()
    assert (handed.page.attempts, handed.page.deaths) == (0, 0)
    assert receipt_of(Crawl.objects.get())["retries"] == 0


def test_however_many_workers_die_before_they_asked_for_a_page_it_is_not_given_up(handed: Handed) -> None:
    for _ in range(5):
        handed.claim()
        handed.die()
        dispatch(handed.context)
    assert (handed.page.status, handed.page.attempts, handed.page.deaths) == (Page.OPEN, 0, 0)


def test_a_page_that_waits_for_its_host_slot_is_not_current(handed: Handed) -> None:
    handed.claim()
    handed.die()
    dispatch(handed.context)
    lease = handed.claim()
    handed.take_in_hand(lease, handed.page.id)
    handed.context.frontier.leases.note_suspect(lease.batch, lease.token, None)
    handed.die()
    assert (handed.page.attempts, handed.page.deaths) == (0, 0)


def test_a_page_whose_workers_die_while_it_is_in_hand_is_given_up(handed: Handed) -> None:
    handed.claim()
    handed.die()  # this one says nothing about any page
    for number in range(1, 4):
        dispatch(handed.context)
        handed.take_in_hand(handed.claim(), handed.page.id)
        handed.die()
        assert (handed.page.attempts, handed.page.deaths) == (number, number)
    assert handed.page.outcome == Outcome.CRASHED
    assert handed.page.error == "the worker died 3 times while processing this page"
    assert receipt_of(Crawl.objects.get())["retries"] == 3


def test_a_page_whose_report_came_in_is_not_blamed_for_a_death_behind_it(handed: Handed) -> None:
    """Its answer was worth another try, so it is still open and still noted."""
    handed.claim()
    handed.die()
    dispatch(handed.context)
    handed.take_in_hand(handed.claim(), handed.page.id)
    busy = PageResult(id=handed.page.id, attempt=1, outcome=Outcome.SERVER_ERROR, http_status=503)
    writer.apply(handed.context.id, [], [Retry(busy, handed.time)], [], handed.time)
    handed.die()
    assert (handed.page.attempts, handed.page.deaths) == (1, 0)


def test_a_fetch_job_that_lost_its_lease_has_no_current_page(handed: Handed) -> None:
    lease = handed.claim()
    handed.die()
    assert not handed.context.frontier.leases.note_suspect(lease.batch, lease.token, CurrentSuspect(handed.page.id, 1))
    assert not handed.redis.exists(handed.context.frontier.keys.lease(lease.batch))


def test_a_lease_that_ran_out_while_the_reports_were_taken_in_is_left_for_the_next_look(handed: Handed) -> None:
    """Its holder may have left reports since then."""
    handed.claim()
    overdue = handed.context.frontier.leases.overdue(handed.time)
    handed.time += LEASE_TTL_S
    assert recover_leases(handed.context, overdue) == 0
    assert handed.repair() == 1


def test_a_batch_that_was_claimed_while_the_reports_were_taken_in_is_left_for_the_next_look(handed: Handed) -> None:
    """It had waited for so long that it was to be looked for; its worker was done before the tick went on."""
    handed.time += JOB_CHECK_INTERVAL_S + 1
    overdue = handed.context.frontier.leases.overdue(handed.time)
    handed.claim()
    handed.time += LEASE_TTL_S + 1
    assert [lease.held for lease in overdue] == [False]
    assert recover_leases(handed.context, overdue) == 0
    assert handed.page.died_with == ""


def with_pages(bench: Bench, **options: object) -> Handed:
    """The start page is closed, and has led to forty others."""
    handed = Handed(bench, **options)
    handed.context.frontier.reclaim(handed.lease, [])
    start = handed.page
    found = [Discovery(f"{bench.site.url}/{number}", 1, 0, start.id) for number in range(40)]
    result = PageResult(id=start.id, attempt=1, outcome=Outcome.SUCCESS, http_status=200)
    writer.apply(bench.crawl.id, [result], [], found, handed.time)
    return handed


def close(handed: Handed, lease: Lease, in_hand: list[int]) -> None:
    """The worker reports all of its batch."""
    results = [PageResult(id=page, attempt=1, outcome=Outcome.SUCCESS, http_status=200) for page in in_hand]
    writer.apply(handed.context.id, results, [], [], handed.time)
    for number, (lane, _) in lease.slices.items():
        handed.context.frontier.leases.complete_slice(lease.batch, lease.token, number, lane, (), 0)


class TestPoison:
    """A page that kills whoever works on it costs its own outcome, and not that of the pages it travels with."""

    @pytest.fixture
    def handed(self, bench: Bench) -> Handed:
        return with_pages(bench)

    def run(self, handed: Handed, poison: int) -> list[int]:
        """Work on what is handed out until nothing is; how many pages each batch held that died of the poison."""
        deaths = []
        while dispatch(handed.context):
            for lease, _ in handed.context.frontier.leases.all():
                in_hand = [page for _, ids in lease.slices.values() for page in ids]
                if poison in in_hand:
                    handed.context.frontier.leases.claim(lease.batch, lease.token, handed.time)
                    if any(batch_size(lane) for lane, _ in lease.slices.values()):
                        handed.take_in_hand(lease, poison)
                    deaths.append(len(in_hand))
                else:
                    close(handed, lease, in_hand)
            handed.time += LEASE_TTL_S
            handed.repair()
        return deaths

    def test_the_batch_is_split_and_the_page_is_alone_from_its_first_death_on(self, handed: Handed) -> None:
        poison = Page.objects.get(url__endswith="/17").id
        assert self.run(handed, poison) == [24, 8, 1, 1]
        crashed = Page.objects.get(outcome=Outcome.CRASHED)
        assert (crashed.id, crashed.attempts, crashed.deaths) == (poison, 3, 3)
        assert Page.objects.filter(outcome=Outcome.SUCCESS).count() == 40
        assert not Page.objects.exclude(id=poison).filter(deaths__gt=0).exists()
        assert [letter for letter, _ in handed.context.frontier.dead_letters.newest(9)] == [poison]

    @pytest.mark.parametrize(
        ("max_attempts", "deaths"), [(1, [24, 8, 1]), (2, [24, 8, 1]), (3, [24, 8, 1, 1]), (4, [24, 8, 1, 1, 1])]
    )
    def test_however_many_attempts_there_are_the_last_one_is_made_alone(
        self, handed: Handed, monkeypatch: pytest.MonkeyPatch, max_attempts: int, deaths: list[int]
    ) -> None:
        """The first death names nobody. With a single attempt the page has one more, to be made alone."""
        monkeypatch.setattr(conf, "max_attempts", lambda: max_attempts)
        poison = Page.objects.get(url__endswith="/17").id
        assert self.run(handed, poison) == deaths
        assert Page.objects.get(outcome=Outcome.CRASHED).id == poison


def test_a_death_whose_tick_died_after_counting_it_is_counted_once(handed: Handed) -> None:
    handed.claim()
    handed.die()
    dispatch(handed.context)
    lease = handed.claim()
    handed.take_in_hand(lease, handed.page.id)
    deaths.count_death(
        handed.context.id, [handed.page.id], lease.token, handed.time, in_hand=(handed.page.id, 1), crashed_from=None
    )
    handed.die()
    assert (handed.page.attempts, handed.page.deaths) == (1, 1)
