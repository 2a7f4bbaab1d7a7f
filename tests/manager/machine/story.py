"""A story from its beginning to its end: whatever happens, each promise holds after it, and the crawl ends exactly."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from crawler.capabilities.browser.lanes import RENDER
from crawler.capabilities.browser.options import ALWAYS
from crawler.core.protocol.completion import State
from crawler.crawls import reconcile
from crawler.frontier.slots import LaneSlots
from crawler.models import Crawl
from crawler.queueing import queues
from tests.manager.machine import memory
from tests.manager.machine.door import PASSWORD
from tests.manager.machine.happenings import REACHED_BY, Happenings
from tests.manager.machine.stage import Process
from tests.manager.machine.workers import LISTED

PROMPT = 40.0  # seconds within which a lone worker finds out that a deadline has passed, having repaired what it must
JOBS_TO_THE_END = 1500  # more than any crawl of this size needs


class Story(Happenings):
    """Told once."""

    def open(self) -> None:
        """Begin a crawl."""
        self.is_sound = False  # until the next check
        with self._told():
            self.set_up()
            self.begin_a_crawl()

    def open_with_a_death(self, moment: str) -> None:
        """Begin a crawl, and bring about a death at this crash point."""
        self.is_sound = False
        with self._told():
            self.set_up()
            self._bring_about_a_death(moment)

    def go_on(self, jobs: int, what: str) -> None:
        """Work goes on for some jobs; then this happens."""
        self.is_sound = False
        with self._told():
            self.something_happens(jobs, what)

    def check(self) -> None:
        with self._told():
            self._check()
        self.is_sound = True

    def close(self) -> None:
        """See the crawls to their end, unless something was wrong with them already."""
        try:
            if self.is_sound:
                with self._told():
                    self._come_to_its_end()
        finally:
            self.stack.close()
            Crawl.objects.all().delete()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """An error is told with what led to it."""
        try:
            yield
        except BaseException as error:
            error.add_note("\n".join(self.story))
            raise

    # A death at a certain crash point

    def _bring_about_a_death(self, moment: str) -> None:
        actor, process = REACHED_BY[moment.partition(":")[0]], Process(moment)
        if actor == "begin":
            self.begin_a_crawl(process)
        self.begin_a_crawl()
        self._work(self.chance.randint(1, 12))
        match actor, moment:
            case ("resume", _):
                self.pause(self.ledgers[0])
                self.resume(self.ledgers[0], process)
            case ("cancel" | "delete" | "finish" | "change options", _):
                self._act_on(self.ledgers[0], actor, process)
            case ("send again", _):
                while not self.ledgers[0].dead_letters():
                    self._work(1)
                self.send_again(self.ledgers[0], process)
            case ("add pages" | "ask again", _):
                while not any(row.is_closed for row in self.ledgers[0].rows()):
                    self._work(1)
                self._act_on(self.ledgers[0], actor, process)
            case (_, "repair: deaths counted" | "repair: pages lost" | "fetch: suspect in hand"):
                self._die_in_a_job("fetch: batch claimed")
                process = self._die_in_a_job(moment)
            case (_, "conclude: disagreement noted"):
                self._lose(partial(memory.evict, self.redis, str(self.ledgers[0].id), memory.OF_THE_QUEUE_SIDE))
                process = self._die_in_a_job(moment)
            case ("begin", _):
                pass
            case (_, "login: begun" | "login: form accepted"):
                self.the_site_ends_its_sessions()  # it may have logged in by now
                process = self._die_in_a_job(moment)
            case _:
                process = self._die_in_a_job(moment)
        assert process.is_dead, f"nobody comes to {moment!r} any more"

    def _die_in_a_job(self, moment: str) -> Process:
        """In the first that comes there."""
        process = Process(moment)
        for _ in range(JOBS_TO_THE_END):
            job = self.workers.pop()
            if job is not None:
                self.workers.run(job, process)
                if process.is_dead:
                    break
        return process

    # What must hold

    def _check(self) -> None:
        assert self.stage.is_empty
        assert not self.workers.failures, self.workers.failures[0]
        for ledger in self.ledgers:
            ledger.check()
        self._check_the_places_of_browsers()
        self._check_that_a_starting_worker_finds_something_to_do()

    def _check_that_a_starting_worker_finds_something_to_do(self) -> None:
        """While a crawl runs, and unless somebody died just now who had to see to it."""
        if self.workers.has_lifeline:
            self.needs_help = self.workers.is_lifeline_lost = False
        elif self.workers.is_lifeline_lost:
            self.needs_help = True
        elif not self.needs_help and self.workers.is_idle:
            assert not Crawl.objects.filter(state=State.RUNNING).exists(), "a running crawl that nobody would find"

    def _check_the_places_of_browsers(self) -> None:
        """No more batches are handed out than there are places, and no page that is written by its server is rendered,
        unless the crawl wants all to be."""
        out = self.redis.keys("crawler:*:lease:render-*")
        assert len(out) <= LISTED, f"{len(out)} batches for {LISTED} places"
        if not any(ledger.options.render == ALWAYS for ledger in self.ledgers):
            assert self.world.shells.issuperset(self.browser.rendered)

    def check_that_each_place_is_free(self) -> None:
        """However the pages ended that had them. The places are taken here."""
        batches, slots = [f"batch{number}" for number in range(LISTED)], LaneSlots(self.redis, RENDER)
        free = slots.take(batches, LISTED, self.clock.now)
        assert free == LISTED, f"{free} of {LISTED} places are free"

    # The end

    def _come_to_its_end(self) -> None:
        for ledger in self.ledgers:
            if ledger.is_being_deleted:
                self.delete(ledger)
            else:
                if ledger.options.login_url:
                    self.give_the_password(ledger, passwords=[PASSWORD])
                self.resume(ledger)
                self.finish(ledger)
        self._come_to_rest()
        assert all(ledger.is_over for ledger in self.ledgers), f"a crawl never ended; {self._what_is_left()}"
        self._clear_up()
        for ledger in self.ledgers:
            ledger.check()
            ledger.check_end()
        if not self.excuses.redis_lost_something:  # else it may not know of a crawl that is over
            self.check_that_each_place_is_free()

    def _what_is_left(self) -> str:
        held = {str(ledger.id): memory.left_of(self.redis, str(ledger.id)) for ledger in self.ledgers}
        return f"Redis holds {held}; waiting: {queues.next_jobs()}; last jobs: {list(self.workers.ran)}"

    def _come_to_rest(self) -> None:
        if self.workers.has_lifeline and self.chance.random() < 0.6:
            self._be_left_to_one_worker()
        else:
            self._be_looked_after()

    def _be_left_to_one_worker(self) -> None:
        """A stock worker starts, and nobody else does anything."""
        self.tell("a lone worker starts")
        latest = max((row.expires_at or 0 for ledger in self.ledgers for row in ledger.rows()), default=0)
        has_end = all(ledger.options.deadline is not None for ledger in self.ledgers)
        until = max(self.clock.now, latest) + PROMPT
        self.workers.start_one()
        for _ in range(JOBS_TO_THE_END):
            assert not has_end or self.clock.now < until, "a crawl goes on beyond its deadline"
            if all(ledger.is_over for ledger in self.ledgers):
                return
            assert self.workers.run_next() is not None, "the last worker fell asleep"

    def _be_looked_after(self) -> None:
        """Workers run what there is, and somebody looks now and then."""
        self.tell("workers work, and somebody looks now and then")
        for _ in range(60):
            if all(ledger.is_over for ledger in self.ledgers):
                return
            self.clock.sleep(6.0)
            reconcile.scan()
            self._run_all()

    def _run_all(self) -> None:
        """What waits, watches among it, until nothing but watches waits."""
        for _ in range(200):
            if not self.workers.has_work:
                return
            self.workers.run_next()

    def _clear_up(self) -> None:
        """Everything is over; what is late arrives, and somebody looks once more."""
        while self.withheld:
            self.a_late_report_arrives()
        for _ in range(3):
            self.clock.sleep(130.0)  # a notice whose sender died is tried again after two minutes
            reconcile.scan()
            self._run_all()
