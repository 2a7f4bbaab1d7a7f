"""What people do: they begin, pause, resume, cancel, change and delete crawls, send dead letters again, release
traps, add pages and ask for some again. Each may die in its middle, and so leave the rest undone, or be overtaken by
others."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from crawler.core.access.credentials import parse
from crawler.core.access.reach import OPERATOR
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.placement import placed
from crawler.crawls import control, retry, start
from crawler.crawls.change import change
from crawler.crawls.delete import delete
from crawler.encryption import seal
from crawler.manager import add
from crawler.models import Crawl
from tests.manager.machine.door import LOGIN, PASSWORD, WRONG, fields_with
from tests.manager.machine.ledger import Ledger
from tests.manager.machine.machine import Machine
from tests.manager.machine.stage import Process
from tests.manager.machine.world import ADDABLE, CHANGES, EVENTS, HOOK, STARTS

PASSWORD_TYPED = "password"
"""In place of an option: the crawl logs in with this one."""


class People(Machine):
    """A verb that dies may leave a running crawl that nobody was told of: then somebody must look."""

    @contextmanager
    def _acting(self, process: Process | None) -> Iterator[None]:
        process = process or Process()
        with self.stage.process(process):
            yield
        self.needs_help |= process.is_dead

    def begin(self, options: Mapping[str, Any], process: Process | None = None) -> None:
        known, options, sealed = {ledger.id for ledger in self.ledgers}, dict(options), ""
        if password := options.pop(PASSWORD_TYPED, ""):
            options["login_url"] = self.world.url(LOGIN)
            sealed = seal(parse(login_fields=fields_with(password)))
        chosen = CrawlOptions(**options, notify_webhooks=(self.world.url(HOOK),), notify_events=EVENTS)
        with self._acting(process):
            start.start_crawl([self.world.url(name) for name in STARTS], chosen, allow_private=True, sealed=sealed)
        for crawl in Crawl.objects.exclude(id__in=known):
            self.ledgers.append(Ledger(crawl.id, self.world, self.redis, self.workers, self.browser, self.excuses))

    def pause(self, ledger: Ledger, process: Process | None = None) -> None:
        with self.stage.process(process or Process()):
            control.pause(ledger.id)

    def resume(self, ledger: Ledger, process: Process | None = None) -> None:
        with self._acting(process):
            control.resume(ledger.id)

    def cancel(self, ledger: Ledger, process: Process | None = None) -> None:
        ledger.was_cancelled, round_ = True, ledger.round
        with self.stage.process(process or Process()):
            if control.cancel(ledger.id):
                ledger.ends[round_] += 1

    def send_again(self, ledger: Ledger, process: Process | None = None) -> None:
        """All dead letters, or one of them."""
        letters = ledger.dead_letters()
        one = self.chance.sample(letters, 1) if letters and self.chance.random() < 0.3 else None
        with self._acting(process):
            retry.retry_failed(ledger.id, one)

    def release_traps(self, ledger: Ledger, process: Process | None = None) -> None:
        with self._acting(process):
            retry.release(ledger.id)

    def add_pages(self, ledger: Ledger, process: Process | None = None) -> None:
        """Some pages, known or not, for now or later, some of them again."""
        chance = self.chance
        names = chance.sample(ADDABLE, chance.randint(1, 3))
        delay, priority = chance.choice((None, 0.0, 8.0, 30.0)), chance.choice((None, None, 0, 9))
        place = placed(priority, delay, None, chance.choice((None, None, 20.0)), self.clock.now)
        self.tell(f"    {names}, {place}")
        with self._acting(process):
            urls = [self.world.url(name) for name in names]
            add.add(ledger.id, urls, place, by=OPERATOR, again=chance.random() < 0.3)

    def ask_again(self, ledger: Ledger, process: Process | None = None) -> None:
        closed = sorted(row.id for row in ledger.rows() if row.is_closed)
        ids = self.chance.sample(closed, min(len(closed), self.chance.randint(1, 3)))
        with self._acting(process):
            add.ask_again(ledger.id, ids)

    def change_options(self, ledger: Ledger, process: Process | None = None) -> None:
        """One or two of them, to other values or back to the usual ones."""
        chance = self.chance
        values = {name: chance.choice(CHANGES[name]) for name in chance.sample(list(CHANGES), chance.randint(1, 2))}
        self.tell(f"    {values}")
        with self._acting(process):
            ledger.may_have(values)
            change(ledger.id, values, by=OPERATOR)

    def give_the_password(
        self, ledger: Ledger, process: Process | None = None, passwords: Sequence[str] = (PASSWORD, PASSWORD, WRONG)
    ) -> None:
        """One of these; mostly the right one."""
        password = self.chance.choice(passwords)
        self.tell(f"    {password}")
        with self._acting(process):
            change(ledger.id, {"login_fields": fields_with(password)}, by=OPERATOR)

    def finish(self, ledger: Ledger, process: Process | None = None) -> None:
        """One that is kept open; of others nothing changes."""
        with self._acting(process):
            control.finish(ledger.id)

    def delete(self, ledger: Ledger, process: Process | None = None) -> None:
        ledger.is_being_deleted = True
        with self.stage.process(process or Process()):
            delete(ledger.id)
